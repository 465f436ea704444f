import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";

/** Path that a command is looked up in when its environment has none, as container runtimes have it. */
export const commandPathDefault = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Returns the problem that keeps a command from being started, in upstream's words; undefined if it can be started, or
 * if that cannot be told because a mount hides the file.
 */
export function commandProblem(
  command: string,
  searchPath: string,
  workingDirectory: string,
  mountPaths: readonly string[],
): string | undefined {
  const isHidden = (path: string) => mountPaths.some((mount) => path === mount || path.startsWith(`${mount}/`));
  if (command.includes("/")) {
    const path = isAbsolute(command) ? command : resolve(workingDirectory, command);
    if (isHidden(path)) return undefined;
    const problem = fileProblem(path);
    return problem === undefined ? undefined : `exec: ${JSON.stringify(command)}: ${problem}`;
  }
  const folders = searchPath.split(":").filter((folder) => folder !== "");
  if (folders.some((folder) => isHidden(folder) || fileProblem(join(folder, command)) === undefined)) return undefined;
  return `exec: ${JSON.stringify(command)}: executable file not found in $PATH`;
}

function fileProblem(path: string): string | undefined {
  try {
    if (statSync(path).isDirectory()) return "is a directory";
  } catch {
    return `stat ${path}: no such file or directory`;
  }
  try {
    accessSync(path, constants.X_OK);
    return undefined;
  } catch {
    return "permission denied";
  }
}
