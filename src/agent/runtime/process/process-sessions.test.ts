import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { chunks, collect, endless, forever, problemOf, processesWith, rareSeconds, TestRuntime } from "./testing.ts";

let machine: TestRuntime;

beforeEach(async () => {
  machine = await TestRuntime.open();
});

afterEach(() => machine[Symbol.asyncDispose]());

describe("exec", () => {
  test("runs a command with the container's environment and directory", async () => {
    const id = await machine.run("sleep 60", { workingDir: "/usr" }, { environment: [["GREETING", "hello"]] });
    const streams = collect();
    const command = ["sh", "-c", 'echo "$GREETING from $(pwd)"; exit 5'];
    expect(await machine.runtime.exec(id, command, { tty: false, signal: forever }, streams)).toBe(5);
    expect(streams.text()).toBe("hello from /usr\n");
  });

  test("passes input to the command, and its end", async () => {
    const id = await machine.run("sleep 60");
    const streams = { ...collect(), stdin: chunks("b\n", "a\n") };
    expect(await machine.runtime.exec(id, ["sort"], { tty: false, signal: forever }, streams)).toBe(0);
    expect(streams.text()).toBe("a\nb\n");
  });

  test("copies much output to a slow client without loss", async () => {
    const id = await machine.run("sleep 60");
    let bytes = 0;
    const stdout = async (chunk: Uint8Array) => {
      await Bun.sleep(1);
      bytes += chunk.length;
    };
    const command = ["head", "-c", "5000000", "/dev/zero"];
    expect(await machine.runtime.exec(id, command, { tty: false, signal: forever }, { stdout })).toBe(0);
    expect(bytes).toBe(5_000_000);
  });

  test("gives the command a terminal of the client's size", async () => {
    const id = await machine.run("sleep 60");
    const done = new AbortController();
    async function* sizes() {
      yield { width: 101, height: 33 };
    }
    const streams = collect();
    const command = ["sh", "-c", "read line; tty; stty size; echo got $line"];
    const stdin = endless("hi\n", done.signal);
    const code = await machine.runtime.exec(
      id,
      command,
      { tty: true, signal: forever },
      { ...streams, stdin, resize: sizes() },
    );
    done.abort();
    expect(code).toBe(0);
    expect(streams.text()).toMatch(/\/dev\/pts\/\d+\r\n33 101\r\ngot hi\r\n$/);
  });

  test("kills the command and its children when the client goes", async () => {
    const id = await machine.run("sleep 60");
    const seconds = rareSeconds();
    const client = new AbortController();
    const command = ["sh", "-c", `sleep ${seconds} & sleep ${seconds}`];
    const exec = machine.runtime.exec(id, command, { tty: false, signal: client.signal }, collect());
    await until(() => processesWith(seconds).length >= 3);
    client.abort(new Error("gone"));
    await expect(exec).rejects.toThrow("gone");
    await until(() => processesWith(seconds).length === 0);
  });

  test("kills a command that takes too long", async () => {
    const id = await machine.run("sleep 60");
    const exec = machine.runtime.exec(id, ["sleep", "60"], { tty: false, signal: forever, timeoutSeconds: 0.1 }, {});
    expect(await problemOf(exec)).toMatchObject({ code: "DeadlineExceeded", message: "command timed out after 0.1s" });
  });

  test("refuses a container that does not run, and a program that does not exist", async () => {
    const running = await machine.run("sleep 60");
    const options = { tty: false, signal: forever };
    const missing = await problemOf(machine.runtime.exec(running, ["nope"], options, {}));
    expect(missing.message).toBe('exec: "nope": executable file not found in $PATH');
    expect((await problemOf(machine.runtime.exec("none", ["true"], options, {}))).code).toBe("NotFound");
    await machine.runtime.stopContainer(running, 0);
    expect((await problemOf(machine.runtime.exec(running, ["true"], options, {}))).code).toBe("NotFound");
  });
});

describe("attach", () => {
  test("shows the output, and sends input", async () => {
    const id = await machine.run("while read line; do echo got $line; done; echo end", {
      stdin: true,
      stdinOnce: true,
    });
    const streams = { ...collect(), stdin: chunks("one\n", "two\n") };
    await machine.runtime.attach(id, { signal: forever }, streams);
    expect(streams.text()).toBe("got one\ngot two\nend\n");
    expect(await machine.ended(id)).toMatchObject({ exitCode: 0 });
  });

  test("keeps the input open for the next client unless it is for one", async () => {
    const id = await machine.run("while read line; do echo got $line; done; echo end", { stdin: true });
    for (const text of ["one", "two"]) {
      const client = new AbortController();
      const streams = collect();
      const attached = machine.runtime.attach(
        id,
        { signal: client.signal },
        { ...streams, stdin: chunks(`${text}\n`) },
      );
      await until(() => streams.text() === `got ${text}\n`);
      client.abort();
      await attached;
    }
    expect(await machine.stateOf(id)).toMatchObject({ kind: "running" });
  });

  test("connects to the terminal of the container", async () => {
    const id = await machine.run("tty; read line; echo got $line; exit 2", { stdin: true, tty: true });
    const done = new AbortController();
    const streams = { ...collect(), stdin: endless("hi\n", done.signal) };
    await machine.runtime.attach(id, { signal: forever }, streams);
    done.abort();
    expect(streams.text()).toContain("got hi\r\n");
    expect(await machine.ended(id)).toMatchObject({ exitCode: 2 });
    expect((await machine.logOf(id)).join("\n")).toMatch(/^stdout \/dev\/pts\/\d+$/m);
  });

  test("drops a client that does not take the output, and the container goes on", async () => {
    const id = await machine.run("head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo; echo done");
    const stuck = { stdout: () => new Promise<void>(() => {}) };
    expect(await problemOf(machine.runtime.attach(id, { signal: forever }, stuck))).toMatchObject({
      code: "ResourceExhausted",
    });
    expect(await machine.ended(id)).toMatchObject({ exitCode: 0 });
  });
});
