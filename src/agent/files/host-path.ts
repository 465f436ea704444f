import { mkdir, open, stat } from "node:fs/promises";
import type { HostPathVolumeSource } from "../../api/types/core-v1.ts";
import { hasBacksteps } from "../../api/validation/local-path.ts";

/** Checks a path of the host, or makes it. @throws Error with upstream's message if it is something else */
export async function prepareHostPath({ path, type = "" }: HostPathVolumeSource): Promise<void> {
  if (hasBacksteps(path)) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`);
  if (type === "") return;
  let facts = await stat(path).catch(() => undefined);
  if (facts === undefined && (type === "DirectoryOrCreate" || type === "FileOrCreate")) {
    if (type === "DirectoryOrCreate") await mkdir(path, { recursive: true, mode: 0o755 });
    else await (await open(path, "a", 0o644)).close();
    facts = await stat(path);
  }
  const fail = (wanted: string) => new Error(`hostPath type check failed: ${path} is not ${wanted}`);
  switch (type) {
    case "DirectoryOrCreate":
    case "Directory":
      if (facts?.isDirectory() !== true) throw fail("a directory");
      return;
    case "FileOrCreate":
    case "File":
      if (facts?.isFile() !== true) throw fail("a file");
      return;
    case "Socket":
      if (facts?.isSocket() !== true) throw fail("a socket file");
      return;
    case "CharDevice":
      if (facts?.isCharacterDevice() !== true) throw fail("a character device");
      return;
    case "BlockDevice":
      if (facts?.isBlockDevice() !== true) throw fail("a block device");
      return;
    default:
      throw new Error(`${type} is an invalid volume type`);
  }
}
