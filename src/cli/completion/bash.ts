import type { CommandNode, FlagNode } from "./command-tree.ts";

/** Returns the script that completes the commands in bash. */
export function bashCompletion(nodes: readonly CommandNode[]): string {
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  return `# bash completion of quorate: source <(quorate completion bash)
_quorate() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= next i words= flags=
  # bash splits --flag=value into three words.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == help ]] && continue
    next="\${command:+$command }\${COMP_WORDS[i]}"
    case $next in ${known.join(" | ")}) command=$next ;; esac
  done
  case $prev in
${valueCases(nodes)}  esac
  case $command in
${nodes.map(commandCase).join("")}  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ $words == : ]]; then
    compopt -o filenames
    COMPREPLY=($(compgen -f -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _quorate quorate
`;
}

function commandCase({ path, words: known, flags, takesFile }: CommandNode): string {
  const words = takesFile ? ":" : known.map(({ name }) => name).join(" ");
  const all = flags.map(({ long }) => `--${long}`).join(" ");
  return `    "${path}") words="${words}" flags="${all}" ;;\n`;
}

/** Returns a `case` for each kind of value. A flag has the same kind in every command. */
function valueCases(nodes: readonly CommandNode[]): string {
  const flags = new Map(nodes.flatMap((node) => node.flags).map((flag) => [flag.long, flag]));
  const cases = Map.groupBy([...flags.values()], answerTo);
  return [...cases]
    .filter(([answer]) => answer !== "")
    .map(([answer, alike]) => `    ${alike.flatMap(namesOf).join(" | ")}) ${answer}return ;;\n`)
    .join("");
}

function answerTo({ value, choices }: FlagNode): string {
  switch (value) {
    case "none":
      return "";
    case "file":
      return 'compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); ';
    case "directory":
      return 'compopt -o filenames; COMPREPLY=($(compgen -d -- "$cur")); ';
    case "choice":
      return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$cur")); `;
    case "text":
      return "COMPREPLY=(); ";
  }
}

function namesOf({ long, short }: FlagNode): string[] {
  return [`--${long}`, ...(short === undefined ? [] : [`-${short}`])];
}
