import { formatDurationMs } from "./duration.ts";
import type { Flag } from "./flag.ts";

/** Returns the text of a flag's value, or of its default, in the format that Go uses for its type. */
export function flagText(flag: Flag, given: unknown): string {
  const fallback = "default" in flag ? flag.default : undefined;
  const value = given ?? fallback;
  switch (flag.type) {
    case "duration":
      return formatDurationMs(value as number);
    case "seconds":
      return String((value as number) / 1_000);
    case "texts":
    case "choices":
      return `[${((value ?? []) as readonly string[]).join(",")}]`;
    case "switches":
      return Object.entries((value ?? {}) as Readonly<Record<string, boolean>>)
        .map(([key, on]) => `${key}=${on}`)
        .join(",");
    default:
      return value === undefined ? "" : String(value);
  }
}
