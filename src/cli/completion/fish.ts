import type { CommandNode, FlagNode } from "./command-tree.ts";

/** Returns the script that completes the commands in fish. */
export function fishCompletion(nodes: readonly CommandNode[]): string {
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => `'${path}'`);
  return `# fish completion of quorate: quorate completion fish | source
function __quorate_at
  set -l command
  for word in (commandline -opc)[2..-1]
    test $word = help; and continue
    set -l next (string trim -- "$command $word")
    contains -- $next ${known.join(" ")}; and set command $next
  end
  test "$command" = "$argv"
end
complete -c quorate -f
${nodes.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, words, flags, takesFile }: CommandNode): string[] {
  const at = `complete -c quorate -n "${["__quorate_at", path].join(" ").trim()}"`;
  return [
    ...words.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...flags.map((flag) => `${at} ${flagOf(flag)}`),
    ...(takesFile ? [`${at} -F`] : []),
  ];
}

function flagOf({ long, short, description, value, choices }: FlagNode): string {
  const names = `-l ${long}${short === undefined ? "" : ` -s ${short}`}`;
  const taken = {
    none: "",
    file: " -r -F",
    directory: " -x -a '(__fish_complete_directories)'",
    choice: ` -x -a '${choices.join(" ")}'`,
    text: " -x",
  }[value];
  return `${names}${taken} -d ${quoted(description)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
