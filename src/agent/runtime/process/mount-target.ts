import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { RuntimeError } from "../runtime.ts";

/**
 * Paths that programs read while they run as root in a container's mount namespace: the shell, `mount` and `setpriv`,
 * their libraries, and the accounts in which `setpriv` looks users up.
 */
const rootPaths = [
  "/bin",
  "/sbin",
  "/usr",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/proc",
  "/sys",
  "/etc/ld.so.cache",
  "/etc/ld.so.preload",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/group",
  "/run/nscd",
  "/run/systemd",
  "/var/lib/sss",
];

/**
 * Returns the path without links at which a volume is mounted for a container with other rights than the agent's.
 * `agentFolder` has the scripts that prepare the container. @throws RuntimeError for a path that root relies on
 */
export function mountTarget(containerPath: string, agentFolder: string): string {
  const target = realPath(resolve("/", containerPath));
  const taken = [...rootPaths, agentFolder].find((path) => [path, realPath(path)].some((one) => overlaps(one, target)));
  if (taken === undefined) return target;
  const problem = `a container with another user or fewer rights cannot replace what root uses in ${taken}`;
  throw new RuntimeError("CreateContainerError", `mount at ${containerPath}: ${problem}`);
}

/** Resolves the links of the part of a path that exists. */
function realPath(path: string): string {
  return path === "/" || existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path));
}

function overlaps(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`);
}
