import { describe, expect, test } from "bun:test";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { ManualClock } from "../../../storage/cacher/testing.ts";
import type { ContainerState, RuntimeContainer, Sandbox } from "../runtime.ts";
import { parseRules } from "./parse-rules.ts";
import { PodAddresses } from "./pod-addresses.ts";
import { SimulatedRuntime } from "./simulated-runtime.ts";
import { Simulation } from "./simulation.ts";

const seed = 42;
const encoder = new TextEncoder();

class Fixture {
  readonly clock = new ManualClock();
  readonly simulation: Simulation;
  readonly runtime: SimulatedRuntime;
  readonly changed: string[] = [];

  constructor(rules = "{}", podRanges: readonly string[] = []) {
    this.simulation = new Simulation({ clock: this.clock, seed, rules: parseRules(encoder.encode(rules)) });
    this.runtime = new SimulatedRuntime({ simulation: this.simulation, podRanges: () => podRanges });
    this.runtime.subscribe((uid) => this.changed.push(uid));
  }

  async create(spec: Partial<Container> = {}, more: Partial<Pod> = {}): Promise<{ id: string; sandbox: Sandbox }> {
    const sandbox = await this.runtime.runSandbox({ ...pod, ...more }, 0);
    const id = await this.runtime.createContainer(
      sandbox,
      { ...pod, ...more },
      {
        spec: { name: "main", image: "nginx", ...spec },
        attempt: 0,
        imageRef: "nginx@sha256:1",
        command: spec.command,
        args: spec.args,
        environment: [["NAME", "value"]],
        mounts: [],
        logPath: "/var/log/pods/0.log",
      },
    );
    return { id, sandbox };
  }

  async start(spec: Partial<Container> = {}, more: Partial<Pod> = {}): Promise<RuntimeContainer> {
    const { id } = await this.create(spec, more);
    await this.runtime.startContainer(id);
    return this.run(id);
  }

  run(id: string): RuntimeContainer {
    return this.containers.find((one) => one.id === id) as RuntimeContainer;
  }

  /** The containers, which the runtime returns without a pause. */
  get containers(): readonly RuntimeContainer[] {
    return Bun.peek(this.runtime.containers()) as readonly RuntimeContainer[];
  }

  async log(run: RuntimeContainer): Promise<string> {
    let text = "";
    const signal = new AbortController().signal;
    for await (const line of this.runtime.logs(run, { follow: false, signal })) {
      text += new TextDecoder().decode(line.text);
    }
    return text;
  }
}

const pod: Pod = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "web-1", namespace: "shop", uid: "u1" },
  spec: { containers: [] },
};
const options = { tty: false, signal: new AbortController().signal };

describe("a container", () => {
  test("runs on, and stops when it is told to", async () => {
    const fixture = new Fixture();
    const run = await fixture.start();
    fixture.clock.advance(3_600_000);
    expect(run.state.kind).toBe("running");
    const stopped = fixture.runtime.stopContainer(run.id, 30);
    fixture.clock.advance(20);
    await stopped;
    expect(run.state).toMatchObject({ kind: "exited", exitCode: 0, reason: "Completed" });
    expect(fixture.changed).toEqual(["u1"]);
  });

  test("ends as a rule says", async () => {
    const fixture = new Fixture("rules: [{exit: {after: 5s, code: 137, reason: OOMKilled, message: much}}]");
    const run = await fixture.start();
    const begunMs = (run.state as ContainerState & { kind: "running" }).startedAtMs;
    fixture.clock.advance(4_900);
    expect(run.state.kind).toBe("running");
    fixture.clock.advance(200);
    expect(run.state).toEqual({
      kind: "exited",
      startedAtMs: begunMs,
      finishedAtMs: begunMs + 5_000,
      exitCode: 137,
      reason: "OOMKilled",
      message: "much",
    });
  });

  test("that takes longer to stop than it may is killed", async () => {
    const fixture = new Fixture("rules: [{stop: {after: 10s}}]");
    const run = await fixture.start();
    const stopped = fixture.runtime.stopContainer(run.id, 2);
    fixture.clock.advance(2_020);
    await stopped;
    expect(run.state).toMatchObject({ exitCode: 137, reason: "Error" });
  });

  test("fails to start, or exits with another code, as often as a rule says", async () => {
    const fixture = new Fixture("rules: [{start: {failureRate: 1, message: no room}}]");
    const { id } = await fixture.create();
    await expect(fixture.runtime.startContainer(id)).rejects.toMatchObject({
      reason: "RunContainerError",
      message: "no room",
    });
    const other = new Fixture("rules: [{exit: {after: 1s, failureRate: 1, failureCode: 4}}]");
    const run = await other.start();
    other.clock.advance(1_100);
    expect(run.state).toMatchObject({ exitCode: 4, reason: "Error" });
  });

  test("becomes ready and unhealthy as a rule says", async () => {
    const fixture = new Fixture("rules: [{startup: {after: 1s}, ready: {after: 2s}, unhealthy: {after: 3s}}]");
    const run = await fixture.start();
    const seen = [0, 1, 2, 3].map(() => {
      const answers = (["startup", "liveness", "readiness"] as const).map((kind) => fixture.runtime.probe(run, kind));
      fixture.clock.advance(1_000);
      return answers;
    });
    expect(seen).toEqual([
      [false, true, false],
      [true, true, false],
      [true, true, true],
      [true, false, false],
    ]);
  });

  test("runs on as before when the system's time is set back or forward", async () => {
    for (const shiftMs of [-3_600_000, 3_600_000]) {
      const fixture = new Fixture("rules: [{startup: {after: 2s}, unhealthy: {after: 4s}}]");
      const run = await fixture.start({ command: ["sh", "-c"], args: ["echo one; sleep 2; echo two; sleep 10"] });
      fixture.clock.advance(1_000);
      fixture.clock.set(shiftMs);
      expect([fixture.runtime.probe(run, "startup"), fixture.runtime.probe(run, "liveness")]).toEqual([false, true]);
      expect(await fixture.log(run)).toBe("one\n");
      fixture.clock.advance(1_000);
      expect(fixture.runtime.probe(run, "startup")).toBe(true);
      expect(await fixture.log(run)).toBe("one\ntwo\n");
      expect(await fixture.runtime.stats()).toMatchObject([{ cpuNanoseconds: 20_000_000 }]);
      fixture.clock.advance(2_000);
      expect(fixture.runtime.probe(run, "liveness")).toBe(false);
    }
  });

  test("follows its command if that is simple", async () => {
    const fixture = new Fixture();
    const run = await fixture.start({ command: ["sh", "-c"], args: ["echo $NAME; sleep 3; echo done; exit 7"] });
    expect(await fixture.log(run)).toBe("value\n");
    fixture.clock.advance(3_100);
    expect(run.state).toMatchObject({ exitCode: 7 });
    expect(await fixture.log(run)).toBe("value\ndone\n");
    expect((await fixture.start({ command: ["nginx"] })).state.kind).toBe("running");
  });

  test("knows the name that its pod gives it", async () => {
    const fixture = new Fixture();
    const nameWith = async (spec: object) => {
      const run = await fixture.start({ command: ["hostname"] }, { spec: { containers: [], ...spec } });
      fixture.clock.advance(20);
      return await fixture.log(run);
    };
    expect(await nameWith({})).toBe("web-1\n");
    expect(await nameWith({ hostname: "one" })).toBe("one\n");
    expect(await nameWith({ hostname: "one", hostnameOverride: "www.example.com" })).toBe("www.example.com\n");
  });

  test("of a Job completes", async () => {
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u", controller: true };
    const metadata = { ...pod.metadata, ownerReferences: [owner] };
    const fixture = new Fixture();
    const run = await fixture.start({}, { metadata, spec: { containers: [], restartPolicy: "Never" } });
    fixture.clock.advance(2_100);
    expect(run.state).toMatchObject({ exitCode: 0, reason: "Completed" });
    expect(await fixture.log(run)).toBe(
      "simulated container main of image nginx has started\nsimulated container main exits with code 0\n",
    );
  });

  test("is killed with its sandbox", async () => {
    const fixture = new Fixture();
    const run = await fixture.start();
    await fixture.runtime.stopSandbox(run.sandboxId);
    expect(run.state).toMatchObject({ exitCode: 137 });
    await fixture.runtime.removeSandbox(run.sandboxId);
    expect([await fixture.runtime.sandboxes(), fixture.containers]).toEqual([[], []]);
    await fixture.runtime.stopContainer(run.id, 1);
    await fixture.runtime.removeContainer(run.id);
  });
});

const forever = new AbortController().signal;

describe("images", () => {
  test("are pulled in time and listed", async () => {
    const fixture = new Fixture();
    const pulled = fixture.runtime.pullImage("registry:5000/web:1", undefined, forever);
    expect(await fixture.runtime.imageRef("registry:5000/web:1")).toBeUndefined();
    fixture.clock.advance(400);
    const ref = await pulled;
    expect(ref).toMatch(/^registry:5000\/web@sha256:[0-9a-f]{64}$/);
    expect(await fixture.runtime.imageRef("registry:5000/web:1")).toBe(ref);
    expect(await fixture.runtime.images()).toMatchObject([{ names: [ref, "registry:5000/web:1"] }]);
  });

  test("are not there when their pull was canceled", async () => {
    const fixture = new Fixture();
    const canceled = new AbortController();
    const pulled = fixture.runtime.pullImage("web:2", undefined, canceled.signal);
    canceled.abort(new Error("canceled"));
    await expect(pulled).rejects.toThrow("canceled");
    fixture.clock.advance(400);
    expect(await fixture.runtime.imageRef("web:2")).toBeUndefined();
  });

  test("of registries that cannot exist fail", async () => {
    const fixture = new Fixture();
    const pulled = fixture.runtime.pullImage("registry.invalid/web", undefined, forever);
    fixture.clock.advance(400);
    await expect(pulled).rejects.toMatchObject({
      reason: "ErrImagePull",
      message: 'failed to pull and unpack image "registry.invalid/web": no such host',
    });
  });
});

describe("addresses", () => {
  test("come from the node's range, one for each pod", async () => {
    const fixture = new Fixture("{}", ["10.1.2.0/30", "fd00::/64"]);
    const first = await fixture.runtime.runSandbox(pod, 0);
    const second = await fixture.runtime.runSandbox(pod, 0);
    expect([first.ips, second.ips]).toEqual([
      ["10.1.2.1", "fd00::1"],
      ["10.1.2.2", "fd00::2"],
    ]);
    await expect(fixture.runtime.runSandbox(pod, 0)).rejects.toThrow("no address is left in 10.1.2.0/30");
    await fixture.runtime.stopSandbox(first.id);
    expect((await fixture.runtime.runSandbox(pod, 0)).ips[0]).toBe("10.1.2.1");
  });

  test("are shared by nodes without a range, and absent on the host's network", async () => {
    const fixture = new Fixture();
    const other = new SimulatedRuntime({ simulation: fixture.simulation });
    expect((await fixture.runtime.runSandbox(pod, 0)).ips).toEqual(["10.240.0.1"]);
    expect((await other.runSandbox(pod, 0)).ips).toEqual(["10.240.0.2"]);
    const hosted = { ...pod, spec: { containers: [], hostNetwork: true } };
    expect((await fixture.runtime.runSandbox(hosted, 0)).ips).toEqual([]);
  });

  test("are reused as late as possible", () => {
    const addresses = new PodAddresses("10.0.0.0/29");
    const first = addresses.take();
    addresses.release(first ?? "");
    expect(addresses.take()).toBe("10.0.0.2");
    expect(() => new PodAddresses("10.0.0.0")).toThrow("10.0.0.0 is not a range of addresses");
  });
});

describe("sessions", () => {
  const output = () => {
    const texts = { stdout: "", stderr: "" };
    const append = (name: "stdout" | "stderr") => (chunk: Uint8Array) => {
      texts[name] += new TextDecoder().decode(chunk);
    };
    return { texts, streams: { stdout: append("stdout"), stderr: append("stderr") } };
  };

  test("exec runs simple commands", async () => {
    const fixture = new Fixture();
    const { id } = await fixture.start();
    const { texts, streams } = output();
    expect(await fixture.runtime.exec(id, ["env"], options, streams)).toBe(0);
    expect(texts.stdout).toBe("NAME=value\nHOSTNAME=web-1\n");
    expect(await fixture.runtime.exec(id, ["curl"], options, streams)).toBe(127);
    expect(texts.stderr).toBe('exec: "curl": executable file not found in $PATH\n');
  });

  test("exec copies its input with cat, and ends at its timeout", async () => {
    const fixture = new Fixture();
    const { id } = await fixture.start();
    const { texts, streams } = output();
    async function* stdin() {
      yield encoder.encode("in\n");
    }
    expect(await fixture.runtime.exec(id, ["cat"], options, { ...streams, stdin: stdin() })).toBe(0);
    expect(texts.stdout).toBe("in\n");
    const slow = fixture.runtime.exec(id, ["sleep", "inf"], { ...options, timeoutSeconds: 0.01 }, streams);
    await expect(slow).rejects.toMatchObject({ code: "DeadlineExceeded" });
    const stop = AbortSignal.timeout(10);
    await expect(fixture.runtime.exec(id, ["sleep", "inf"], { tty: false, signal: stop }, streams)).rejects.toThrow();
  });

  test("logs are followed until the container ends", async () => {
    const fixture = new Fixture("rules: [{logs: [ready for connections]}]");
    const run = await fixture.start();
    const lines = fixture.runtime.logs(run, { follow: true, signal: options.signal });
    const next = async () => new TextDecoder().decode((await lines.next()).value?.text);
    expect([await next(), await next()]).toEqual([
      "simulated container main of image nginx has started\n",
      "ready for connections\n",
    ]);
    await fixture.runtime.stopSandbox(run.sandboxId);
    expect(await next()).toBe("simulated container main exits with code 137\n");
    expect((await lines.next()).done).toBe(true);
  });

  test("attach shows what comes", async () => {
    const fixture = new Fixture();
    const run = await fixture.start();
    fixture.clock.advance(1_000);
    const { texts, streams } = output();
    // Lines are chosen by the time that the container has run, whatever the system's time is.
    fixture.clock.set(3_600_000);
    const attached = fixture.runtime.attach(run.id, options, streams);
    fixture.clock.set(-3_600_000);
    await fixture.runtime.stopSandbox(run.sandboxId);
    await attached;
    expect(texts.stdout).toBe("simulated container main exits with code 137\n");
    await expect(fixture.runtime.attach(run.id, options, streams)).rejects.toThrow("is not running");
  });

  test("ports answer a request", async () => {
    const fixture = new Fixture();
    const { sandboxId } = await fixture.start();
    const { texts, streams } = output();
    async function* input() {
      yield encoder.encode("GET / HTTP/1.1\r\nhost: x\r\n");
      yield encoder.encode("\r\n");
    }
    const connection = { input: input(), output: streams.stdout, signal: options.signal };
    await fixture.runtime.portForward(sandboxId, 80, connection);
    expect(texts.stdout).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(texts.stdout).toEndWith("\r\n\r\nsimulated pod shop/web-1 answers on port 80\n");
    await expect(fixture.runtime.portForward("none", 80, connection)).rejects.toMatchObject({ code: "NotFound" });
  });

  test("a checkpoint is not possible", async () => {
    await expect(new Fixture().runtime.checkpoint()).rejects.toMatchObject({ code: "Unimplemented" });
  });
});

test("the same seed gives the same ids", async () => {
  const [a, b] = [await new Fixture().create(), await new Fixture().create()];
  expect(a.id).toBe(b.id);
  expect(a.id).toMatch(/^[0-9a-f]{64}$/);
});
