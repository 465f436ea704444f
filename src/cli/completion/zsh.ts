import type { CommandNode, FlagNode } from "./command-tree.ts";

/** Returns the script that completes the commands in zsh. */
export function zshCompletion(nodes: readonly CommandNode[]): string {
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  return `#compdef quorate
# zsh completion of quorate: source <(quorate completion zsh)
_quorate() {
  local command= next word
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == help ]] && continue
    next="\${command:+$command }$word"
    case $next in (${known.join(" | ")}) command=$next ;; esac
  done
  case $command in
${nodes.map(commandCase).join("")}  esac
}
compdef _quorate quorate
`;
}

function commandCase({ path, words, flags, takesFile }: CommandNode): string {
  if (words.length > 0) {
    const entries = words.map(({ name, description }) => quoted(description === "" ? name : `${name}:${description}`));
    return `    ("${path}") entries=(${entries.join(" ")}); _describe command entries ;;\n`;
  }
  const specs = flags.map(specOf);
  const rest = takesFile ? "'*:file:_files'" : "'*: :'";
  return `    ("${path}") _arguments ${[...specs, rest].join(" ")} ;;\n`;
}

function specOf({ long, short, description, value, choices }: FlagNode): string {
  const help = `[${description.replaceAll(/[[\]\\]/g, String.raw`\$&`)}]`;
  const action = {
    none: "",
    file: ":file:_files",
    directory: ":directory:_files -/",
    choice: `:value:(${choices.join(" ")})`,
    text: ":value: ",
  }[value];
  const equals = value === "none" ? "" : "=";
  const spec = quoted(`--${long}${equals}${help}${action}`);
  return short === undefined ? spec : `${spec} ${quoted(`-${short}${value === "none" ? "" : "+"}${help}${action}`)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
