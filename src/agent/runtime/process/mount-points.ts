import { existsSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { dirname, normalize } from "node:path";

/**
 * Returns the paths at and above mount points that the machine lacks, or that were made for containers before. They are
 * in order from the root, and are made when the container starts.
 */
export function madePaths(mountPaths: readonly string[], madeBefore: ReadonlySet<string>): string[] {
  const made = new Set<string>();
  for (const mountPath of mountPaths) {
    for (const path of pathsFromRoot(mountPath)) if (madeBefore.has(path) || !existsSync(path)) made.add(path);
  }
  return [...made];
}

/**
 * Removes paths that were made, once no container mounts at or below them. Folders and files with content stay: removing
 * a mount point would take the mount away from the containers that see it.
 */
export function removeMadePaths(made: readonly string[], mountPathsInUse: readonly string[]): void {
  const inUse = new Set(mountPathsInUse.flatMap(pathsFromRoot));
  for (const path of made.toReversed()) {
    if (inUse.has(path)) continue;
    try {
      const facts = statSync(path);
      if (facts.isDirectory()) rmdirSync(path);
      else if (facts.isFile() && facts.size === 0) unlinkSync(path);
    } catch {
      // It is gone, or somebody has put something into it.
    }
  }
}

/** Returns a path and all above it, without the root. */
function pathsFromRoot(path: string): string[] {
  const paths: string[] = [];
  for (let at = normalize(path).replace(/(.)\/$/, "$1"); at !== "/" && at !== "."; at = dirname(at)) paths.unshift(at);
  return paths;
}
