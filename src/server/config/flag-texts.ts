import { flagText } from "./flag-text.ts";
import { type FlagOptions, flagNames, flags, optionName } from "./flags.ts";

/** Returns the text of every flag by name. A flag without a value is empty. */
export function flagTexts(options: FlagOptions): ReadonlyMap<string, string> {
  return new Map(flagNames.map((name) => [name, flagText(flags[name], options[optionName(name)])]));
}
