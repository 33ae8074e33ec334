"""A robot between `pliant run` and a simulated plant that can lie, repeat itself or fall silent:
fake_plant.py MODE RECEIVED COMMAND...   (COMMAND: a plant on standard input and output)
Prints its port; writes every line of the controller to RECEIVED."""
import json
import socket
import subprocess
import sys
import time

mode, received, command = sys.argv[1], sys.argv[2], sys.argv[3:]
plant = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
log = open(received, "w")  # exists before anybody can connect
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)
print(server.getsockname()[1], flush=True)
connection, _ = server.accept()
line = connection.makefile("rw")
hello = json.loads(plant.stdout.readline())
flexor = hello["commands"]["flexor"]
hello["clock"] = "real"
if mode == "protocol":
    hello["hello"] = "pliant plant 1"
elif mode == "unit":
    flexor["unit"] = "N"
elif mode == "range":
    flexor["range"] = [0, 10]
elif mode == "rate":
    flexor["rate"] = 0.001
elif mode == "period":
    hello["period"] = 0.25
elif mode == "command":
    hello["commands"]["thumb"] = hello["commands"].pop("flexor")
elif mode == "extra":
    hello["commands"]["thumb"] = flexor
elif mode == "sensor":
    hello["sensors"]["s2"] = "kPa"
line.write(json.dumps(hello) + "\n")
line.flush()
last, count = None, 0
with log:
    for text in line:
        log.write(text)
        log.flush()
        message = json.loads(text)
        plant.stdin.write(text)
        plant.stdin.flush()
        answer = json.loads(plant.stdout.readline())
        count += "set" in message
        late = count > 8
        if mode == "silent" and late:
            continue
        if mode == "stale" and last and count % 3 == 0:  # an old reply comes again before the right one
            line.write(json.dumps(last) + "\n")
        if mode == "repeat" and last and late:  # the same readings for ever, with new numbers
            answer = {**last, "seq": message["seq"]}
        if mode == "unsent" and late:
            answer["seq"] += 5
        if mode == "unnumbered" and late:
            del answer["seq"]
        if mode == "text" and late:
            answer["sensors"]["s1"] = "45,5"
        if mode == "nan" and late:
            answer["sensors"]["s1"] = float("nan")
        if mode == "refuse" and late:
            answer = {"seq": message["seq"], "error": "valve 3 is hot"}
        if mode == "long" and late:
            line.write("x" * (1 << 20) + "\n")
        if mode == "blind":
            answer.pop("markers", None)
        if mode == "unsolved" and late and "sensors" in answer:
            answer["solved"] = False
        if mode == "twice" and late and "sensors" in answer:
            line.write(json.dumps(answer).replace('"s1": ', '"s1": 90, "s1": ') + "\n")
            line.flush()
            continue
        if mode == "marker" and late and "markers" in answer:
            answer["markers"]["tip"] = [1, 2]
        if mode == "absurd" and late and "sensors" in answer:
            answer["sensors"]["s1"] = 9999
        if "sensors" in answer and mode != "repeat" or last is None:
            last = answer if "sensors" in answer else None
        elif mode == "repeat" and not late:
            last = answer
        line.write(json.dumps(answer) + "\n")
        try:
            line.flush()
        except OSError:
            break
plant.stdin.close()
