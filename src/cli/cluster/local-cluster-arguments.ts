import type { Flag } from "../../server/config/flag.ts";
import { flagNames, flags, optionName } from "../../server/config/flags.ts";
import type { ServerOptions } from "../../server/config/server-options.ts";

/** Returns the options as arguments of a command line. */
export function serverArguments(options: ServerOptions): string[] {
  return flagNames.flatMap((name) => {
    const value = options[optionName(name)];
    return value === undefined ? [] : [`--${name}=${valueText(flags[name], value)}`];
  });
}

function valueText({ type }: Flag, value: unknown): string {
  switch (type) {
    case "duration":
      return `${value as number}ms`;
    case "seconds":
      return String((value as number) / 1_000);
    case "choices":
    case "texts":
      return (value as readonly string[]).join(",");
    case "switches":
      return Object.entries(value as Readonly<Record<string, boolean>>)
        .map(([key, on]) => `${key}=${on}`)
        .join(",");
    default:
      return String(value);
  }
}
