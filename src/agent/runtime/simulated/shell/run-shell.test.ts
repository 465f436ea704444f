import { describe, expect, test } from "bun:test";
import { runShell, type ShellWorld } from "./run-shell.ts";

const world: ShellWorld = {
  environment: new Map([
    ["NAME", "value"],
    ["TWO", "two  words"],
  ]),
  hostname: "web-1",
  nowMs: Date.UTC(2026, 0, 2, 3, 4, 5),
};
const run = (...words: string[]) => {
  const { outputs, ...rest } = runShell(words, world);
  const text = (stream: string) => outputs.flatMap((one) => (one.stream === stream ? [one.text] : [])).join("");
  return { ...rest, outputs, stdout: text("stdout"), stderr: text("stderr") };
};
const sh = (text: string, ...parameters: string[]) => run("sh", "-c", text, ...parameters);

describe("a command", () => {
  test.each([
    [["echo", "a", "b"], "a b\n"],
    [["echo", "-n", "a"], "a"],
    [["echo", "-e", "a\\tb"], "a\tb\n"],
    [["/bin/echo", "-x"], "-x\n"],
    [["env"], "NAME=value\nTWO=two  words\n"],
    [["printenv", "NAME"], "value\n"],
    [["hostname"], "web-1\n"],
    [["pwd"], "/\n"],
    [["date"], "Fri Jan  2 03:04:05 UTC 2026\n"],
    [["true"], ""],
  ])("%p prints %p", (words, stdout) => {
    expect(run(...words)).toMatchObject({ stdout, stderr: "", exitCode: 0, isUnderstood: true });
  });

  test.each([
    [["false"], 1, "", true],
    [["printenv", "NONE"], 1, "", true],
    [["curl"], 127, 'exec: "curl": executable file not found in $PATH\n', false],
    [["/app"], 127, 'exec: "/app": stat /app: no such file or directory\n', false],
    [["sleep", "x"], 1, "sleep: invalid time interval 'x'\n", true],
    [["sh"], 2, "sh: the simulated shell only knows -c with a text\n", false],
    [["exit", "3"], 127, 'exec: "exit": executable file not found in $PATH\n', false],
  ])("%p exits with %p", (words, exitCode, stderr, isUnderstood) => {
    expect(run(...words)).toMatchObject({ exitCode, stderr, isUnderstood });
  });

  test("that sleeps takes its time", () => {
    expect(run("sleep", "1.5")).toMatchObject({ durationMs: 1_500, exitCode: 0 });
    expect(run("sleep", "2m")).toMatchObject({ durationMs: 120_000 });
    expect(run("sleep", "infinity")).toMatchObject({ durationMs: Number.POSITIVE_INFINITY });
  });
});

describe("a shell", () => {
  test.each([
    ["echo a; echo b", "a\nb\n", 0],
    ["true && echo a || echo b", "a\n", 0],
    ["false && echo a || echo b", "b\n", 0],
    ["false\necho $?", "1\n", 0],
    ["echo $NAME ${NAME}s '$NAME' \"<$NAME>\" \\$NAME", "value values $NAME <value> $NAME\n", 0],
    ['echo "$TWO" "a\\"b"', 'two  words a"b\n', 0],
    ["exit 3; echo a", "", 3],
    ["sh -c 'exit 4'; echo $?", "4\n", 0],
    ["echo a >/dev/null; echo b 2>/dev/null", "b\n", 0],
    ["  ", "", 0],
    ["echo a;", "a\n", 0],
    ["A=1 B=$NAME'x'; echo $A$B", "1valuex\n", 0],
    ["A=1 sh -c 'echo $A'; echo $A.", "1\n.\n", 0],
    ["A=1; sh -c 'A=2'; echo $A", "1\n", 0],
  ])("runs %p", (text, stdout, exitCode) => {
    expect(sh(text)).toMatchObject({ stdout, exitCode, stderr: "", isUnderstood: true });
  });

  test("has parameters and redirections", () => {
    expect(sh('echo "$1" >&2', "sh", "first")).toMatchObject({ stdout: "", stderr: "first\n" });
    expect(sh("sh -c 'echo a; echo b >&2' 2>/dev/null")).toMatchObject({ stdout: "a\n", stderr: "" });
    expect(sh("nothing 2>&1")).toMatchObject({
      stdout: "sh: nothing: not found\n",
      exitCode: 127,
      isUnderstood: false,
    });
  });

  test("prints at the right time, and nothing after the end of time", () => {
    const { outputs, durationMs } = sh("echo a; sleep 2; echo b; sleep inf; echo c");
    expect(outputs.map(({ afterMs, text }) => [afterMs, text])).toEqual([
      [0, "a\n"],
      [2_000, "b\n"],
    ]);
    expect(durationMs).toBe(Number.POSITIVE_INFINITY);
  });

  test("with -e stops at a failure that nobody handles", () => {
    expect(run("sh", "-ec", "false || true; false; echo a")).toMatchObject({ stdout: "", exitCode: 1 });
  });

  test.each([
    ["while true; do sleep 1; false; echo a; done; echo b", "", 1],
    ["while true; do sleep 1; sh -c 'exit 3'; done", "", 3],
    ["until false; do if true; then false; fi; done; echo a", "", 1],
    ["if true; then false; echo a; fi || echo b", "a\n", 0],
    ["while false; do :; done; if true; then false && true; fi; echo a", "a\n", 0],
    ["sh -ec 'while true; do false; done' || echo a", "a\n", 0],
  ])("with -e runs %p", (text, stdout, exitCode) => {
    const { durationMs, ...rest } = run("sh", "-ec", text);
    expect(rest).toMatchObject({ stdout, exitCode, isUnderstood: true });
    expect(durationMs).toBeLessThanOrEqual(1_000);
  });

  test.each([
    ["if true; then echo a; else echo b; fi", "a\n", 0],
    ["if false\nthen echo a\nelif true; then echo b\nelse echo c\nfi; echo d", "b\nd\n", 0],
    ["if false; then echo a; fi; echo $?", "0\n", 0],
    ["until true; do echo a; done; echo b", "b\n", 0],
    ["while false; do echo a; done", "", 0],
    ["while true; do echo a; exit 3; done; echo b", "a\n", 3],
    ["if [ a = b ] || [ 2 -gt 1 ]; then echo yes; fi", "yes\n", 0],
    ["[ ! -n '' ] && test 1 != 2 && [[ x == x ]] && echo yes", "yes\n", 0],
    ["[ $(expr 7 % 4) -ne 3 ]", "", 1],
    ['echo "<$(echo a; echo b)>" $(expr 2 + 3)$(expr 6 / 4) $(expr 2 \\* 3)', "<a\nb> 51 6\n", 0],
    ["echo $(exit 3; echo a).", ".\n", 0],
    ["if [[ -r /f ]]; then echo old; else touch /f; exit 1; fi", "", 1],
    ["touch /a; [ -f /a ] && cat /a && echo made", "made\n", 0],
    ["if $(if true; then echo echo; fi) a; then echo b; fi", "a\nb\n", 0],
  ])("decides with %p", (text, stdout, exitCode) => {
    expect(sh(text)).toMatchObject({ stdout, exitCode, stderr: "", isUnderstood: true });
  });

  test("makes files, unless it is not understood", () => {
    const files = new Set<string>();
    const withFiles = (text: string) => runShell(["sh", "-c", text], { ...world, files });
    expect(withFiles("cat /f")).toMatchObject({ exitCode: 1, isUnderstood: true });
    expect(withFiles("touch /g; nothing").isUnderstood).toBe(false);
    expect(files.size).toBe(0);
    expect(withFiles("touch /f; sleep 5").exitCode).toBe(0);
    expect(withFiles("cat /f")).toMatchObject({ exitCode: 0, isUnderstood: true });
    // Others may change files in the meantime.
    expect(withFiles("sleep 5; cat /f").isUnderstood).toBe(false);
  });

  test("does not end a loop without an end, which it follows for a while", () => {
    const { durationMs, outputs, isUnderstood } = sh("while true; do echo polo; sleep 2; done");
    expect({ durationMs, isUnderstood }).toEqual({ durationMs: Number.POSITIVE_INFINITY, isUnderstood: true });
    expect(outputs.slice(0, 3).map(({ afterMs }) => afterMs)).toEqual([0, 2_000, 4_000]);
    expect(outputs.length).toBeWithin(300, 500);
    expect(sh("while true; do echo; done").isUnderstood).toBe(false);
  });

  test.each([
    ["[ a", "sh: [: a condition"],
    ["[ a -eq 1 ]", "sh: [: a condition"],
    ["test -x /f", "sh: test: a condition"],
    ["expr 1 / 0", "expr: syntax error"],
  ])("does not know %p", (text, problem) => {
    const { exitCode, isUnderstood, stderr } = sh(text);
    expect({ exitCode, isUnderstood }).toEqual({ exitCode: 2, isUnderstood: false });
    expect(stderr).toStartWith(problem);
  });

  test.each([
    "for a in b; do echo; done",
    "while true; echo; done",
    "if true; then fi",
    "if true; then echo",
    "fi",
    "echo $(echo",
    "echo a | cat",
    "echo `date`",
    "echo 'a",
    'echo "a',
    "echo a &",
    "echo a > file",
    "; echo",
    "echo a && ",
    "echo \\",
    "echo ${A",
  ])("does not understand %p", (text) => {
    const { exitCode, isUnderstood, stderr } = sh(text);
    expect({ exitCode, isUnderstood }).toEqual({ exitCode: 2, isUnderstood: false });
    expect(stderr).toStartWith("sh: syntax that the simulated shell does not know: ");
  });

  test("has limits", () => {
    expect(sh("echo;".repeat(20_000)).isUnderstood).toBe(false);
    const nested = 'sh -c "$1" sh "$1";'.repeat(50);
    expect(sh(nested, "sh", nested).isUnderstood).toBe(false);
  });

  // Every round prints. Without a price for the rest of its work, there would be hundreds of rounds.
  test.each([
    ["variables without a value", `while true; do echo a; : ${"$q".repeat(15_000)}; done`],
    ["outputs without commands", `while true; do echo a; : ${"$()".repeat(900)}; done`],
    ["literal text", `while true; do echo a; : '${"b".repeat(30_000)}'; done`],
    ["files", `while true; do echo a; cat ${"b ".repeat(5_000)}; done`],
    ["dropped output", `while true; do echo a; echo ${"b".repeat(30_000)} >/dev/null; done`],
    ["shells", `while true; do echo a; sh -c "$0"; done`],
    ["an environment", "while true; do echo a; A=1; done"],
  ])("bounds the work for %s", (_name, text) => {
    const variables = Array.from({ length: 2_000 }, (_, at) => [`V${at}`, ""] as const);
    const environment = new Map(variables);
    const { outputs, isUnderstood } = runShell(["sh", "-c", text, ": ".repeat(15_000)], { ...world, environment });
    const rounds = outputs.filter((one) => one.text === "a\n").length;
    expect(rounds).toBeWithin(1, 60);
    expect(isUnderstood).toBe(false);
    expect(outputs.at(-1)?.text).toBe("sh: too much work for the simulated shell\n");
  });

  test("makes no files beyond the limit of work", () => {
    const files = new Set<string>();
    const paths = Array.from({ length: 5_000 }, (_, at) => `/${at}`);
    expect(runShell(["touch", ...paths], { ...world, files })).toMatchObject({ exitCode: 2, isUnderstood: false });
    expect(files.size).toBe(0);
  });

  test("bounds the length of values and of output", () => {
    const { outputs, isUnderstood } = sh("A=aaaa; while true; do A=$A$A; echo $A; done");
    expect(isUnderstood).toBe(false);
    expect(outputs.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(1_000_000);
  });

  test("drops output of $() when its work ends within, and keeps errors", () => {
    const { outputs, durationMs } = sh("while true; do sleep 1; echo $(while true; do echo a; echo b >&2; done); done");
    expect(durationMs).toBe(Number.POSITIVE_INFINITY);
    expect(new Set(outputs.map(({ stream, text }) => `${stream} ${text}`))).toEqual(new Set(["stderr b\n"]));
  });
});
