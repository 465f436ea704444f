import packageJson from "../../package.json" with { type: "json" };
import type { Terminal } from "./terminal.ts";

/** Runs `quorate version`: prints the versions of quorate, of the API and of Bun. */
export async function version(terminal: Terminal): Promise<number> {
  const { gitVersion } = await import("../http/version.ts");
  terminal.print(`quorate ${packageJson.version}`);
  terminal.print(`serves ${gitVersion}`);
  terminal.print(`on bun ${Bun.version} (${process.platform} ${process.arch})`);
  return 0;
}
