import { type Command, Option } from "commander";
import { formatDurationMs } from "../server/config/duration.ts";
import type { Flag } from "../server/config/flag.ts";
import { flagNames, flags, optionName } from "../server/config/flags.ts";
import { parseFlag } from "../server/config/parse-flag.ts";
import type { ServerOptions } from "../server/config/server-options.ts";

/** The flags of the server as options, which its commands share. */
const serverOptions = flagNames.map((name) => ({ name, option: toOption(name, flags[name]) }));

/** Adds every flag of the server to a command. */
export function addServerFlags(command: Command): Command {
  for (const { option } of serverOptions) command.addOption(option);
  return command;
}

/** Converts commander's camel-case names to the server's options. */
export function toServerOptions(values: Record<string, unknown>): ServerOptions {
  const given = serverOptions.flatMap(({ name, option }) => {
    const value = values[option.attributeName()];
    return value === undefined ? [] : [[optionName(name), value] as const];
  });
  return Object.fromEntries(given) as ServerOptions;
}

/** Returns a flag as an option of a command. */
export function toOption(name: string, flag: Flag): Option {
  const placeholder = flag.value ?? "bool";
  const value = flag.type === "boolean" ? `[${placeholder}]` : `<${placeholder}>`;
  // Commander allows one dash only for short names. `--v` is accepted too, as upstream does.
  const option = new Option(`${flag.short === undefined ? "" : `-${flag.short}, `}--${name} ${value}`, helpText(flag))
    .helpGroup(`${flag.group}:`)
    .argParser((text, previous) => parseFlag(name, flag, text, previous));
  if (flag.type === "boolean") option.preset("true");
  // Only completion reads these. The flag has its own parser.
  if (flag.type === "choices") option.argChoices = [...flag.allowed];
  return option;
}

function helpText(flag: Flag): string {
  const text = defaultText(flag);
  return text === undefined || text === "" ? flag.help : `${flag.help} (default ${text})`;
}

function defaultText(flag: Flag): string | undefined {
  switch (flag.type) {
    case "duration":
      return formatDurationMs(flag.default);
    case "seconds":
      return String(flag.default / 1_000);
    case "choices":
    case "texts":
      return flag.default?.join(",");
    case "switches":
      return undefined;
    default:
      return flag.default === undefined ? undefined : String(flag.default);
  }
}
