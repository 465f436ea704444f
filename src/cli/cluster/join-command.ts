import { shellWord } from "../shell-word.ts";

export interface JoinCommand {
  readonly endpoint: string;
  readonly token: string;
  readonly caHash: string;
  readonly flags: Readonly<Record<string, string>>;
}

/** Returns the command that makes a machine join. */
export function joinCommand({ endpoint, token, caHash, flags }: JoinCommand): string {
  const further = Object.entries(flags).map(
    ([name, value]) => ` --${name} ${/^<.*>/.test(value) ? value : shellWord(value)}`,
  );
  return `quorate cluster join ${endpoint} --token ${token} --ca-hash ${caHash}${further.join("")}`;
}
