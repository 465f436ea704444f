import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../../test/until.ts";
import { readProcess } from "./process-table.ts";
import { chunks, collect, forever, problemOf, processesWith, rareSeconds, TestRuntime, testPod } from "./testing.ts";

const isRoot = process.getuid?.() === 0;

let machine: TestRuntime;

beforeEach(async () => {
  machine = await TestRuntime.open();
});

afterEach(() => machine[Symbol.asyncDispose]());

describe("a container", () => {
  test("runs to its end, with its exit code and log", async () => {
    const id = await machine.run("echo out; echo err >&2; exit 3");
    expect(await machine.ended(id)).toMatchObject({ exitCode: 3, reason: "Error" });
    expect((await machine.logOf(id)).sort()).toEqual(["stderr err", "stdout out"]);
  });

  test("loses no output that is written just before its end", async () => {
    const id = await machine.run("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
    expect(await machine.ended(id)).toMatchObject({ exitCode: 0, reason: "Completed" });
    const lines = await machine.logOf(id);
    expect(lines.length).toBe(20_000);
    expect(lines.at(-1)).toBe("stdout line 19999");
  });

  test("reports its state before, during and after its run", async () => {
    const id = await machine.runtime.createContainer(machine.sandbox, testPod, machine.configOf("sleep 60"));
    expect(await machine.stateOf(id)).toEqual({ kind: "created" });
    await machine.runtime.startContainer(id);
    expect(await machine.stateOf(id)).toMatchObject({ kind: "running" });
    await machine.runtime.stopContainer(id, 0);
    expect(await machine.stateOf(id)).toMatchObject({ kind: "exited", exitCode: 137 });
  });

  test("tells listeners the pod whose container has ended", async () => {
    const told: string[] = [];
    using _subscription = machine.runtime.subscribe((podUid) => told.push(podUid));
    await machine.ended(await machine.run("true"));
    expect(told).toEqual(["pod-1"]);
  });

  test("has the environment of its config and a PATH, and nothing else", async () => {
    const environment = [
      ["PLAIN", "a b"],
      ["QUOTED", `it's "$HOME" $(id) \\ end`],
      ["LINES", "one\ntwo"],
      ["app.name-with.dots", "x'y"],
      ["UID", "not a number"],
      ["EMPTY", ""],
    ] as const;
    const id = await machine.run("tr '\\0' '\\n' </proc/$$/environ | sort", {}, { environment });
    await machine.ended(id);
    const lines = (await machine.logOf(id)).map((line) => line.slice("stdout ".length));
    const expected = environment.flatMap(([name, value]) => `${name}=${value}`.split("\n"));
    const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    expect(lines.sort()).toEqual([...expected, path].sort());
  });

  test("gets its arguments as they are", async () => {
    const changes = { command: ["/usr/bin/printf", "[%s]"], args: ["a b", "$HOME", "'", "--", "-n", "", "`id`"] };
    const id = await machine.run("", {}, changes);
    await machine.ended(id);
    expect(await machine.logOf(id)).toEqual(["stdout [a b][$HOME]['][--][-n][][`id`]"]);
  });

  test("starts in its working directory, which is its own by default", async () => {
    const named = await machine.run("pwd", { workingDir: "/usr" });
    await machine.ended(named);
    expect(await machine.logOf(named)).toEqual(["stdout /usr"]);
    const own = await machine.run("pwd; ls -A; echo x >file", {}, { logPath: join(machine.folder, "own.log") });
    await machine.ended(own);
    expect(await machine.logOf(own)).toEqual([`stdout ${machine.workPath(own)}`]);
  });

  test("has no controlling streams of the agent", async () => {
    const id = await machine.run("readlink /proc/self/fd/0; ls /proc/self/fd | tr '\\n' ' '");
    await machine.ended(id);
    // The fourth descriptor is the one that ls reads the folder with.
    expect(await machine.logOf(id)).toEqual(["stdout /dev/null", "stdout 0 1 2 3"]);
  });

  test("needs a command", async () => {
    const config = machine.configOf("", {}, { command: undefined, args: ["x"] });
    const problem = await problemOf(machine.runtime.createContainer(machine.sandbox, testPod, config));
    expect(problem.reason).toBe("CreateContainerError");
    expect(problem.message).toContain("no command specified");
  });

  test.each([
    [["no-such-program"], 'exec: "no-such-program": executable file not found in $PATH'],
    [["/no/such"], 'exec: "/no/such": stat /no/such: no such file or directory'],
    [["/etc/passwd"], 'exec: "/etc/passwd": permission denied'],
    [["/etc"], 'exec: "/etc": is a directory'],
  ])("reports a command that cannot be started: %j", async (command, message) => {
    const id = await machine.runtime.createContainer(machine.sandbox, testPod, machine.configOf("", {}, { command }));
    const problem = await problemOf(machine.runtime.startContainer(id));
    expect(problem).toMatchObject({ reason: "RunContainerError", message });
    expect(await machine.stateOf(id)).toEqual({ kind: "created" });
  });

  test("reports a working directory that does not exist", async () => {
    const id = await machine.runtime.createContainer(
      machine.sandbox,
      testPod,
      machine.configOf("true", { workingDir: "/no/such" }),
    );
    const problem = await problemOf(machine.runtime.startContainer(id));
    expect(problem.reason).toBe("RunContainerError");
    expect(problem.message).toContain("/no/such");
    expect(await machine.ended(id)).toMatchObject({ exitCode: 128 });
  });
});

describe("the message about the end", () => {
  // Without its own mounts, the container reaches the file below its working directory.
  const at = (path: string) => (isRoot ? path : path.slice(1));
  const terminationMessagePath = join(tmpdir(), `quorate-message-${process.pid}`, "log");

  test("is what the container has left in its file, and its end if it is long", async () => {
    const script = `printf "left behind" >${at(terminationMessagePath)}; exit 1`;
    expect(await machine.ended(await machine.run(script, { terminationMessagePath }))).toMatchObject({
      exitCode: 1,
      message: "left behind",
    });
    const long = `head -c 9000 /dev/zero | tr '\\0' x >${at(terminationMessagePath)}; printf end >>${at(terminationMessagePath)}`;
    const state = await machine.ended(await machine.run(long, { terminationMessagePath }));
    expect(state.kind === "exited" && state.message).toBe(`${"x".repeat(4093)}end`);
  });

  test("is the end of the log of a failed container, if that is wanted", async () => {
    const spec = { terminationMessagePath, terminationMessagePolicy: "FallbackToLogsOnError" };
    const script = 'i=0; while [ $i -lt 100 ]; do echo "line $i"; i=$((i+1)); done; printf last; exit 2';
    const state = await machine.ended(await machine.run(script, spec));
    const lines = Array.from({ length: 79 }, (_, i) => `line ${i + 21}\n`);
    expect(state.kind === "exited" && state.message).toBe(`${lines.join("")}last\n`);
    const well = await machine.ended(
      await machine.run("echo fine", spec, { logPath: join(machine.folder, "well.log") }),
    );
    expect(well).toMatchObject({ exitCode: 0, message: "" });
  });

  test("leaves no file on the machine", async () => {
    const id = await machine.run("true", { terminationMessagePath });
    await machine.ended(id);
    await machine.runtime.removeContainer(id);
    expect(existsSync(terminationMessagePath)).toBe(false);
  });
});

describe("stopping", () => {
  test("sends SIGTERM and waits for the end", async () => {
    const id = await machine.run("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done");
    await until(async () => (await machine.logOf(id)).length > 0);
    await machine.runtime.stopContainer(id, 30);
    expect(await machine.stateOf(id)).toMatchObject({ kind: "exited", exitCode: 7 });
    expect(await machine.logOf(id)).toEqual(["stdout ready", "stdout bye"]);
  });

  test("sends the stop signal of the container", async () => {
    const lifecycle = { stopSignal: "SIGUSR1" };
    const id = await machine.run("trap 'exit 9' USR1; echo ready; while :; do sleep 0.05; done", { lifecycle });
    await until(async () => (await machine.logOf(id)).length > 0);
    await machine.runtime.stopContainer(id, 30);
    expect(await machine.stateOf(id)).toMatchObject({ exitCode: 9 });
  });

  test("kills a process that does not end in time", async () => {
    const id = await machine.run("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    await until(async () => (await machine.logOf(id)).length > 0);
    await machine.runtime.stopContainer(id, 1);
    expect(await machine.stateOf(id)).toMatchObject({ exitCode: 137, reason: "Error" });
  });

  test("attack 89: leaves no child behind, even in a session of its own", async () => {
    const seconds = rareSeconds();
    const id = await machine.run(
      `sleep ${seconds} & setsid sleep ${seconds} & setsid sh -c 'sleep ${seconds} & wait' & wait`,
    );
    await until(() => processesWith(seconds).length >= 5);
    await machine.runtime.stopContainer(id, 0);
    expect(processesWith(seconds)).toEqual([]);
  });

  test("ends the children of a container whose main process has ended", async () => {
    const seconds = rareSeconds();
    const id = await machine.run(`sleep ${seconds} & echo $!`);
    await machine.ended(id);
    expect(processesWith(seconds)).toEqual([]);
  });

  test("does nothing for a container that has ended or is unknown", async () => {
    const id = await machine.run("true");
    await machine.ended(id);
    await machine.runtime.stopContainer(id, 5);
    await machine.runtime.stopContainer("none", 5);
    await machine.runtime.removeContainer("none");
    await machine.runtime.removeSandbox("none");
  });

  test("removing a sandbox ends and removes its containers", async () => {
    const seconds = rareSeconds();
    await machine.run(`sleep ${seconds}`);
    await machine.runtime.stopSandbox(machine.sandbox.id);
    expect((await machine.runtime.sandboxes())[0]?.isReady).toBe(false);
    expect(processesWith(seconds)).toEqual([]);
    await machine.runtime.removeSandbox(machine.sandbox.id);
    expect(await machine.runtime.containers()).toEqual([]);
    expect(await machine.runtime.sandboxes()).toEqual([]);
    expect(existsSync(join(machine.folder, "logs", "shop_web_pod-1"))).toBe(false);
  });
});

test("the logs of a pod go with its containers and its last sandbox", async () => {
  const second = await machine.runtime.runSandbox(testPod, 1);
  const id = await machine.run("echo one");
  await machine.ended(id);
  const pod = join(machine.folder, "logs", "shop_web_pod-1");
  writeFileSync(join(pod, "main", "0.log.20260301-100000"), "");
  writeFileSync(join(pod, "main", "1.log"), "");
  await machine.runtime.removeContainer(id);
  expect(readdirSync(join(pod, "main"))).toEqual(["1.log"]);
  await machine.runtime.removeSandbox(machine.sandbox.id);
  expect(existsSync(pod)).toBe(true);
  await machine.runtime.removeSandbox(second.id);
  expect(existsSync(pod)).toBe(false);
});

describe("the next agent", () => {
  test("finds a running container, its output and its end", async () => {
    const id = await machine.run("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 4");
    await until(async () => (await machine.logOf(id)).length === 1);
    await machine.runtime[Symbol.asyncDispose]();
    writeFileSync(machine.workPath(id, "go"), "");
    // The process may end before or after the next agent comes.
    await machine.reopen();
    expect(await machine.ended(id)).toMatchObject({ exitCode: 4 });
    expect(await machine.logOf(id)).toEqual(["stdout one", "stdout two"]);
    expect((await machine.runtime.sandboxes())[0]).toEqual(machine.sandbox);
  });

  test("reads the output of a container that has ended in the meantime", async () => {
    const id = await machine.run("while [ ! -e go ]; do sleep 0.02; done; echo late; exit 5");
    await machine.runtime[Symbol.asyncDispose]();
    writeFileSync(machine.workPath(id, "go"), "");
    await until(() => existsSync(machine.recordPath(id, "exit")));
    await machine.reopen();
    expect(await machine.ended(id)).toMatchObject({ exitCode: 5 });
    expect(await machine.logOf(id)).toEqual(["stdout late"]);
  });

  test("stops a container that it has not started", async () => {
    const seconds = rareSeconds();
    const id = await machine.run(`trap 'exit 6' TERM; echo ready; sleep ${seconds} & wait`);
    await until(async () => (await machine.logOf(id)).length === 1);
    await machine.runtime[Symbol.asyncDispose]();
    await machine.reopen();
    await machine.runtime.stopContainer(id, 30);
    expect(await machine.stateOf(id)).toMatchObject({ exitCode: 6 });
    expect(processesWith(seconds)).toEqual([]);
  });

  test("takes a container whose processes are gone as killed", async () => {
    const id = await machine.run("sleep 60");
    await machine.runtime[Symbol.asyncDispose]();
    const file = machine.recordPath(id, "record.json");
    const record = JSON.parse(readFileSync(file, "utf8"));
    process.kill(record.run.main.pid, "SIGKILL");
    process.kill(record.run.supervisor.pid, "SIGKILL");
    await until(() => readProcess(record.run.supervisor.pid) === undefined);
    rmSync(machine.recordPath(id, "exit"), { force: true });
    await machine.reopen();
    expect(await machine.ended(id)).toMatchObject({ exitCode: 137 });
  });

  test("does not take another process with the same pid for the container", async () => {
    const id = await machine.run("sleep 60");
    await machine.runtime.stopContainer(id, 0);
    await machine.runtime[Symbol.asyncDispose]();
    const bystander = Bun.spawn(["sleep", "60"]);
    const file = machine.recordPath(id, "record.json");
    const { exit: _, ...record } = JSON.parse(readFileSync(file, "utf8"));
    const reused = { pid: bystander.pid, startTicks: record.run.main.startTicks - 1 };
    writeFileSync(file, JSON.stringify({ ...record, run: { ...record.run, supervisor: reused, main: reused } }));
    await machine.reopen();
    expect(await machine.stateOf(id)).toMatchObject({ kind: "exited" });
    await machine.runtime.stopContainer(id, 0);
    expect(bystander.exitCode).toBeNull();
    bystander.kill();
    await bystander.exited;
  });

  test("drops a record that is cut short", async () => {
    await machine.runtime[Symbol.asyncDispose]();
    const broken = machine.recordPath("broken", "");
    mkdirSync(broken);
    writeFileSync(join(broken, "record.json"), '{"id":');
    await machine.reopen();
    expect(await machine.runtime.containers()).toEqual([]);
    expect(existsSync(broken)).toBe(false);
  });
});

describe("limits, users and mounts", () => {
  test("follows a log to the end of the container", async () => {
    const id = await machine.run("for i in 1 2 3; do echo $i; sleep 0.05; done");
    expect(await machine.logOf(id, true)).toEqual(["stdout 1", "stdout 2", "stdout 3"]);
  });

  test("counts the time and memory of the processes", async () => {
    const id = await machine.run("while :; do :; done");
    const stats = await until(
      async () => (await machine.runtime.stats()).find(({ containerId }) => containerId === id),
      (one) => one !== undefined && one.cpuNanoseconds > 0,
    );
    expect(stats?.memoryBytes).toBeGreaterThan(0);
  });

  test("forwards to a port of this machine", async () => {
    const server = createServer((socket) => socket.on("data", (data) => socket.end(`echo ${data}`)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    let text = "";
    const output = (chunk: Uint8Array) => {
      text += Buffer.from(chunk).toString();
    };
    await machine.runtime.portForward(machine.sandbox.id, port, { input: chunks("hi"), output, signal: forever });
    expect(text).toBe("echo hi");
    server.close();
    const refused = problemOf(
      machine.runtime.portForward(machine.sandbox.id, 1, { input: chunks(), output, signal: forever }),
    );
    expect((await refused).message).toBe("dial tcp4 127.0.0.1:1: connect: connection refused");
  });

  test("tells which limits this machine does not enforce", () => {
    const { shortcomings } = machine.runtime;
    const limits = shortcomings.find((text) => text.startsWith("limits are not enforced"));
    const controllers = existsSync("/sys/fs/cgroup/cgroup.controllers");
    if (!controllers) expect(limits).toBe("limits are not enforced without a cgroup v2 controller: memory, cpu, pids");
    expect(shortcomings.some((text) => text.includes("links below the working directory"))).toBe(!isRoot);
  });

  test("refuses to checkpoint", async () => {
    expect((await problemOf(machine.runtime.checkpoint())).code).toBe("Unimplemented");
  });

  test("refuses root to a container that must not run as root", async () => {
    const asRoot = machine.configOf("true", { securityContext: { runAsNonRoot: true, runAsUser: 0 } });
    expect(await problemOf(machine.runtime.createContainer(machine.sandbox, testPod, asRoot))).toMatchObject({
      reason: "CreateContainerConfigError",
      message: `container's runAsUser breaks non-root policy (pod: "web_shop(pod-1)", container: main)`,
    });
  });

  test.if(isRoot)("runs as the user of the security context, which cannot become root", async () => {
    const securityContext = { runAsUser: 4321, runAsGroup: 1234, allowPrivilegeEscalation: false };
    const id = await machine.run("id -u; id -g; id -G; grep NoNewPrivs /proc/self/status; touch x", {
      securityContext,
    });
    expect(await machine.ended(id)).toMatchObject({ exitCode: 0 });
    expect(await machine.logOf(id)).toEqual(["stdout 4321", "stdout 1234", "stdout 1234", "stdout NoNewPrivs:\t1"]);
    expect(statSync(machine.workPath(id, "x")).uid).toBe(4321);
  });

  test.if(isRoot)("attack 88: does not let the environment of another user change what runs as root", async () => {
    const environment = [
      ["PATH", "/tmp/evil:/usr/bin:/bin"],
      ["LD_PRELOAD", "/tmp/evil.so"],
      ["ENV", "/tmp/evil.sh"],
    ] as const;
    const id = await machine.run("id -u", { securityContext: { runAsUser: 4321 } }, { environment });
    await machine.ended(id);
    const record = readFileSync(machine.recordPath(id, "supervise.sh"), "utf8");
    expect(record).not.toContain("evil");
    const setup = readFileSync(machine.recordPath(id, "setup.sh"), "utf8");
    expect(setup).not.toContain("evil");
    expect((await machine.logOf(id)).at(-1)).toBe("stdout 4321");
  });

  test.if(isRoot)("attack: does not run a volume's programs as root", async () => {
    const volume = join(machine.folder, "volume");
    const proof = join(machine.folder, "proof");
    mkdirSync(volume);
    writeFileSync(join(volume, "setpriv"), `#!/bin/sh\nid -u >${proof}\n`, { mode: 0o755 });
    symlinkSync("/usr/local/sbin", join(machine.folder, "link"));
    const securityContext = { runAsUser: 4321 };
    const paths = [
      "/usr/local/sbin",
      "/usr",
      "/bin",
      "/lib",
      "/etc",
      "/etc/passwd",
      "/proc",
      "/var/lib",
      "//run/../run",
    ];
    for (const containerPath of [...paths, machine.folder, join(machine.folder, "link")]) {
      const mounts = [{ hostPath: volume, containerPath, isReadOnly: true, propagation: "None" }] as const;
      const config = machine.configOf("id -u", { securityContext }, { mounts });
      const problem = await problemOf(machine.runtime.createContainer(machine.sandbox, testPod, config));
      expect(problem.reason).toBe("CreateContainerError");
      expect(problem.message).toStartWith(`mount at ${containerPath}: a container with another user`);
    }
    const spec = { securityContext, terminationMessagePath: "/etc/ld.so.preload" };
    const created = machine.runtime.createContainer(machine.sandbox, testPod, machine.configOf("id -u", spec));
    expect((await problemOf(created)).message).toEndWith("what root uses in /etc/ld.so.preload");
    expect(existsSync(proof)).toBe(false);
  });

  test.if(isRoot)("attack: does not follow a volume's links when it mounts another", async () => {
    const volume = join(machine.folder, "volume");
    const target = join(machine.folder, "machine");
    mkdirSync(volume);
    mkdirSync(target);
    symlinkSync("/usr/local/sbin", join(volume, "folder"));
    symlinkSync("/etc/passwd", join(volume, "file"));
    writeFileSync(join(machine.folder, "other"), "");
    const common = { isReadOnly: false, propagation: "None" } as const;
    const others = { folder: volume, file: join(machine.folder, "other") };
    for (const [name, hostPath] of Object.entries(others)) {
      const containerPath = join(target, name);
      const mounts = [
        { hostPath: volume, containerPath: target, ...common },
        { hostPath, containerPath, ...common },
      ];
      const run = machine.run("true", { securityContext: { runAsUser: 4321 } }, { mounts });
      expect((await problemOf(run)).message).toEndWith(`mount at ${containerPath}: the path has a symbolic link`);
    }
  });

  test.if(isRoot)("gives another user volumes inside volumes, also below a link of the machine", async () => {
    const volume = join(machine.folder, "volume");
    mkdirSync(join(volume, "inner"), { recursive: true });
    writeFileSync(join(volume, "file"), "content");
    chmodSync(machine.folder, 0o755);
    mkdirSync(join(machine.folder, "machine"));
    const link = join(machine.folder, "link");
    symlinkSync("machine", link);
    const common = { isReadOnly: true, propagation: "None" } as const;
    const mounts = [
      { hostPath: volume, containerPath: join(link, "a"), ...common },
      { hostPath: volume, containerPath: join(link, "a", "inner"), ...common },
      { hostPath: join(volume, "file"), containerPath: join(link, "b", "one"), ...common },
    ];
    const script = `id -u; cat ${link}/a/file ${link}/a/inner/file ${link}/b/one; echo; touch ${link}/a/no || echo no`;
    const id = await machine.run(script, { securityContext: { runAsUser: 4321 } }, { mounts });
    await machine.ended(id);
    const lines = (await machine.logOf(id)).filter((line) => line.startsWith("stdout"));
    expect(lines).toEqual(["stdout 4321", "stdout contentcontentcontent", "stdout no"]);
  });

  test.if(isRoot)("drops capabilities", async () => {
    const securityContext = { capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } };
    const id = await machine.run("grep CapBnd /proc/self/status", { securityContext });
    await machine.ended(id);
    expect(await machine.logOf(id)).toEqual(["stdout CapBnd:\t0000000000000400"]);
  });

  test.if(isRoot)("sees its volumes at their paths, and nobody else does", async () => {
    const volume = join(machine.folder, "volume");
    const target = join(machine.folder, "machine", "data");
    mkdirSync(volume);
    writeFileSync(join(volume, "file"), "content");
    const file = { hostPath: join(volume, "file"), containerPath: join(machine.folder, "machine", "one-file") };
    const common = { isReadOnly: true, propagation: "None" } as const;
    const mounts = [
      { hostPath: volume, containerPath: target, ...common },
      { ...file, ...common },
    ];
    const script = `cat ${target}/file ${file.containerPath}; echo; touch ${target}/no || echo read-only; sleep 60`;
    const id = await machine.run(script, {}, { mounts });
    const lines = await until(
      () => machine.logOf(id),
      (all) => all.includes("stdout read-only"),
    );
    expect(lines).toContain("stdout contentcontent");
    expect(existsSync(join(target, "file"))).toBe(false);
    const streams = collect();
    expect(
      await machine.runtime.exec(id, ["cat", join(target, "file")], { tty: false, signal: forever }, streams),
    ).toBe(0);
    expect(streams.text()).toBe("content");
    await machine.runtime.removeContainer(id);
    expect(existsSync(join(machine.folder, "machine"))).toBe(false);
  });

  test("keeps records of containers from other users", async () => {
    const secret = rareSeconds();
    const id = await machine.run("sleep 60", {}, { environment: [["PASSWORD", secret]] });
    expect(statSync(join(machine.folder, "runtime", "containers")).mode & 0o777).toBe(0o700);
    expect(statSync(machine.recordPath(id, "record.json")).mode & 0o777).toBe(0o600);
    expect(processesWith(secret)).toEqual([]);
  });
});
