import packageJson from "../../package.json" with { type: "json" };
import type { Terminal } from "./terminal.ts";

/** `quorate version`: ours, that of the API, and what it runs on. */
export async function version(terminal: Terminal): Promise<number> {
  const { gitVersion } = await import("../http/version.ts");
  terminal.print(`quorate ${packageJson.version}`);
  terminal.print(`serves ${gitVersion}`);
  terminal.print(`on bun ${Bun.version} (${process.platform} ${process.arch})`);
  return 0;
}
