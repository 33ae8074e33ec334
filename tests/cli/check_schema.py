"""Checks a JSON file against one definition of docs/reference/schema.json, with the standard library only; where python3-jsonschema is
installed it must agree. Without a file: the schema itself.

    check_schema.py SCHEMA [NAME FILE]
"""
import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$ref", "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "minItems", "maxItems", "description"}


def is_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def errors(root, schema, value, at):
    """Every difference between the value and the schema, as sentences."""
    if "$ref" in schema:
        yield from errors(root, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], value, at)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        yield f"{at}: is {json.dumps(value)[:60]}, expected {' or '.join(types)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at}: is {value!r}, expected {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: is {value!r}, expected one of {schema['enum']}"
    for part in schema.get("allOf", []):
        yield from errors(root, part, value, at)
    if "anyOf" in schema and not any(not list(errors(root, part, value, at)) for part in schema["anyOf"]):
        yield f"{at}: is {json.dumps(value)[:60]}, which is none of the alternatives"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        more = schema.get("additionalProperties", True)
        for key in schema.get("required", []):
            if key not in value:
                yield f"{at}: has no key '{key}'"
        for key, one in value.items():
            if key in known:
                yield from errors(root, known[key], one, f"{at}.{key}")
            elif more is False:
                yield f"{at}: the key '{key}' is not in the schema"
            elif isinstance(more, dict):
                yield from errors(root, more, one, f"{at}.{key}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: has {len(value)} entries"
        for i, one in enumerate(value):
            yield from errors(root, schema.get("items", {}), one, f"{at}[{i}]")


def check_schema(root, schema, at):
    """Only keywords that this checker understands, references that lead somewhere."""
    for key in schema:
        if key not in KNOWN:
            yield f"{at}: the keyword {key} is not understood"
    if "$ref" in schema and schema["$ref"].rsplit("/", 1)[1] not in root["$defs"]:
        yield f"{at}: {schema['$ref']} leads nowhere"
    for key, one in schema.get("properties", {}).items():
        yield from check_schema(root, one, f"{at}.{key}")
    for one in schema.get("anyOf", []) + schema.get("allOf", []):
        yield from check_schema(root, one, at)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from check_schema(root, schema[key], f"{at}[]")


def main():
    root = json.load(open(sys.argv[1], encoding="utf-8"))
    if len(sys.argv) == 2:
        found = [e for name, one in root["$defs"].items() for e in check_schema(root, one, name)]
    else:
        value = json.load(open(sys.argv[3], encoding="utf-8"))
        found = list(errors(root, root["$defs"][sys.argv[2]], value, "$"))
        try:
            import jsonschema
        except ImportError:
            jsonschema = None
        if jsonschema and hasattr(jsonschema, "Draft202012Validator"):
            other = [e.message for e in jsonschema.Draft202012Validator({"$ref": f"#/$defs/{sys.argv[2]}", **root}).iter_errors(value)]
            if bool(other) != bool(found):
                found.append(f"python3-jsonschema does not agree: {other[:1]}")
    print("\n".join(found[:20]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
