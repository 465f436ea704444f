import { readFile } from "node:fs/promises";

/** Mounts and unmounts for the agent. Needs root. */
export class MountTable {
  /** Reports whether this process may mount. */
  static async isAllowed(): Promise<boolean> {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
    try {
      const trial = ["mount", "--no-canonicalize", "--bind", "/", "/"];
      return (await run(["unshare", "--mount", "--propagation", "private", ...trial])) === undefined;
    } catch {
      return false;
    }
  }

  /** Makes `source` appear at `target`. Links are not followed. @throws Error if the system refuses */
  async bind(source: string, target: string): Promise<void> {
    const problem = await run(["mount", "--no-canonicalize", "--bind", source, target]);
    if (problem !== undefined) throw new Error(problem);
  }

  /** Makes a file system in memory. @throws Error if the system refuses */
  async mountMemory(target: string, sizeBytes: bigint | undefined, mode: string): Promise<void> {
    const options = [`mode=${mode}`, ...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`])].join(",");
    const problem = await run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", target]);
    if (problem !== undefined) throw new Error(problem);
  }

  /** @throws Error if the system refuses */
  async unmount(target: string): Promise<void> {
    const problem = await run(["umount", "--no-canonicalize", "--lazy", target]);
    if (problem !== undefined) throw new Error(problem);
  }

  /** Returns the mount points at or below a folder, the deepest first. */
  async below(folder: string): Promise<string[]> {
    const text = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
    return parseMountPoints(text)
      .filter((path) => path === folder || path.startsWith(`${folder}/`))
      .reverse();
  }
}

/** Returns the mount points of a text like /proc/self/mountinfo, in the order in which they were mounted. */
export function parseMountPoints(text: string): string[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => unescaped(line.split(" ")[4] ?? ""));
}

/** The kernel writes blanks and the like as three octal digits. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Returns the error text of a command; undefined if it succeeds. */
async function run(command: string[]): Promise<string | undefined> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const text = await child.stderr.text();
  return (await child.exited) === 0 ? undefined : text.trim() || `${command[0]} failed`;
}
