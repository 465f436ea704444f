import { expect, test } from "bun:test";
import { Argument, Command, Option } from "commander";
import { completionScript } from "./completion.ts";

function program(): Command {
  const root = new Command("quorate");
  root
    .command("up")
    .description("run a server's parts: all")
    .addOption(new Option("-v, --verbosity <level>", "[how] much"))
    .addOption(new Option("--data-dir <dir>", "where"))
    .addOption(new Option("--kubeconfig <file>", "which"))
    .addOption(new Option("--in-memory [bool]", "nothing is kept"));
  const member = root.command("member").description("members");
  member.command("list").addOption(new Option("-o, --output <form>", "form").choices(["table", "json"]));
  member.command("save").argument("<file>");
  root.command("completion").addArgument(new Argument("<shell>").choices(["bash", "zsh"]));
  root.command("help [command...]");
  return root;
}

/** Returns what bash offers for a command line whose last word is being typed. */
function offered(...words: string[]): string[] {
  const script = `compopt() { :; }
${completionScript(program(), "bash")}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quorate
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = Bun.spawnSync(["bash", "-c", script, "bash", ...words], { cwd: import.meta.dir });
  expect(stderr.toString()).toBe("");
  return stdout.toString().split("\n").filter(Boolean).toSorted();
}

test.each([
  [
    ["quorate", ""],
    ["completion", "help", "member", "up"],
  ],
  [["quorate", "me"], ["member"]],
  [
    ["quorate", "member", ""],
    ["list", "save"],
  ],
  [["quorate", "help", "member", "l"], ["list"]],
  [
    ["quorate", "completion", ""],
    ["bash", "zsh"],
  ],
  [
    ["quorate", "up", "--"],
    ["--data-dir", "--in-memory", "--kubeconfig", "--verbosity"],
  ],
  [["quorate", "up", "--verbosity", ""], []],
  [["quorate", "up", "--verbosity", "3", "--d"], ["--data-dir"]],
  [["quorate", "up", "--in-memory", "--d"], ["--data-dir"]],
  [
    ["quorate", "member", "list", "-o", ""],
    ["json", "table"],
  ],
  [["quorate", "member", "list", "--output", "=", "j"], ["json"]],
  [
    ["quorate", "member", "list", "--output", "="],
    ["json", "table"],
  ],
  [["quorate", "up", "--kubeconfig", "completion.te"], ["completion.test.ts"]],
  [["quorate", "member", "save", "fis"], ["fish.ts"]],
])("bash offers for %p %p", (words, expected) => {
  expect(offered(...words)).toEqual(expected);
});

test("zsh and fish get every command and flag, with its purpose", () => {
  const zsh = completionScript(program(), "zsh");
  expect(zsh).toContain(`("") entries=('up:run a server'\\''s parts: all' 'member:members' 'completion' 'help')`);
  expect(zsh).toContain(`'--verbosity=[\\[how\\] much]:value: ' '-v+[\\[how\\] much]:value: '`);
  expect(zsh).toContain("'--data-dir=[where]:directory:_files -/'");
  expect(zsh).toContain("'--output=[form]:value:(table json)'");
  expect(zsh).toContain("'*:file:_files'");
  const fish = completionScript(program(), "fish");
  expect(fish).toContain(`complete -c quorate -n "__quorate_at" -a up -d 'run a server\\'s parts: all'`);
  expect(fish).toContain(`complete -c quorate -n "__quorate_at up" -l verbosity -s v -x -d '[how] much'`);
  expect(fish).toContain(
    `complete -c quorate -n "__quorate_at member list" -l output -s o -x -a 'table json' -d 'form'`,
  );
  expect(fish).toContain(`complete -c quorate -n "__quorate_at member save" -F`);
});
