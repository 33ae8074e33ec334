// A soft shadow on the ground: the body seen from above, darker where it is near the ground, blurred.
import * as THREE from "three";

const pixels = Math.round(192 * Math.min(1, window.devicePixelRatio || 1)); // fewer where the view has fewer

function target() {
    return new THREE.WebGLRenderTarget(pixels, pixels, { depthBuffer: false });
}

export class Shadow {
    constructor(stage) {
        this.stage = stage;
        this.camera = new THREE.OrthographicCamera(-1, 1, 1, -1, 0, 1);
        this.scene = new THREE.Scene();
        this.targets = [target(), target()];
        this.cast = new THREE.ShaderMaterial({
            side: THREE.DoubleSide, depthTest: false, depthWrite: false, transparent: true,
            blending: THREE.CustomBlending, blendEquation: THREE.MaxEquation, blendSrc: THREE.OneFactor, blendDst: THREE.OneFactor,
            uniforms: { ground: { value: 0 }, reach: { value: 1 } },
            vertexShader: `varying float height;
                void main() { height = position.z; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
            fragmentShader: `varying float height;
                uniform float ground, reach;
                void main() { float s = clamp(1.0 - (height - ground) / reach, 0.0, 1.0); gl_FragColor = vec4(s * s); }`,
        });
        // nine taps of a bell curve along one axis
        this.blur = new THREE.ShaderMaterial({
            depthTest: false, depthWrite: false,
            uniforms: { from: { value: null }, step: { value: new THREE.Vector2() } },
            vertexShader: "varying vec2 at; void main() { at = 0.5 + 0.5 * position.xy; gl_Position = vec4(position.xy, 0.0, 1.0); }",
            fragmentShader: `varying vec2 at;
                uniform sampler2D from;
                uniform vec2 step;
                void main() {
                    float sum = 0.0, weight = 0.0;
                    for (int i = -4; i <= 4; ++i) {
                        float w = exp(-0.12 * float(i * i));
                        sum += w * texture2D(from, at + float(i) * step).r;
                        weight += w;
                    }
                    gl_FragColor = vec4(sum / weight);
                }`,
        });
        this.screen = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), this.blur);
        this.screen.frustumCulled = false;
        this.ground = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShaderMaterial({
            transparent: true, depthWrite: false, side: THREE.DoubleSide,
            uniforms: { map: { value: this.targets[0].texture }, strength: { value: 0.4 } },
            vertexShader: "varying vec2 at; void main() { at = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
            fragmentShader: "varying vec2 at; uniform sampler2D map; uniform float strength; void main() { gl_FragColor = vec4(0.05, 0.07, 0.1, strength * texture2D(map, at).r); }",
        }));
        this.ground.renderOrder = -1;
        this.ground.visible = false;
        stage.scene.add(this.ground);
    }

    setTheme(dark) {
        this.ground.material.uniforms.strength.value = dark ? 0.75 : 0.42;
    }

    // The ground lies at height z, the shadow is cast around `middle` over `size` mm.
    place(middle, size, z) {
        const half = 1.1 * size;
        Object.assign(this.camera, { left: -half, right: half, top: half, bottom: -half, near: 0, far: 10 * size });
        this.camera.position.set(middle.x, middle.y, z + 5 * size);
        this.camera.rotation.set(0, 0, 0); // looks down along -z
        this.camera.updateProjectionMatrix();
        this.ground.position.set(middle.x, middle.y, z + 1e-3 * size);
        this.ground.scale.set(2 * half, 2 * half, 1);
        this.cast.uniforms.ground.value = z;
        this.cast.uniforms.reach.value = 1.1 * size;
        this.ground.visible = true;
    }

    // Of the geometry of the body as it is now.
    update(geometry) {
        const { renderer } = this.stage;
        const body = new THREE.Mesh(geometry, this.cast);
        body.frustumCulled = false;
        const before = renderer.getRenderTarget();
        const clear = renderer.getClearAlpha();
        renderer.setClearAlpha(0);
        this.pass(body, this.camera, 0);
        for (const spread of [2.2, 1.1]) {
            this.blurAlong(0, 1, spread / pixels, 0);
            this.blurAlong(1, 0, 0, spread / pixels);
        }
        renderer.setClearAlpha(clear);
        renderer.setRenderTarget(before);
    }

    blurAlong(from, to, x, y) {
        this.blur.uniforms.from.value = this.targets[from].texture;
        this.blur.uniforms.step.value.set(x, y);
        this.pass(this.screen, this.camera, to);
    }

    pass(object, camera, to) {
        this.scene.clear();
        this.scene.add(object);
        this.stage.renderer.setRenderTarget(this.targets[to]);
        this.stage.renderer.clear();
        this.stage.renderer.render(this.scene, camera);
    }
}
