import type { Mount } from "../runtime.ts";

/** Everything that the shell needs to know to start a command in its surroundings. */
export interface Launch {
  readonly command: readonly string[];
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly workingDirectory: string;
  /** Mounts of the container's own mount namespace, which the shell is in. */
  readonly mounts: readonly LaunchMount[];
  /** The command that takes on the user's rights; empty for those of the agent. */
  readonly privileges: readonly string[];
  readonly controlGroup: string | undefined;
}

export interface LaunchMount extends Pick<Mount, "hostPath" | "containerPath" | "isReadOnly"> {
  readonly isFolder: boolean;
  /** Path without links, for a container that may not choose with links where root mounts. */
  readonly target?: string | undefined;
}

/** Status that the setup ends with when it fails, as container runtimes have it. */
export const setupFailedCode = 128;

/** Names that shells set themselves, and that the command would otherwise inherit from its shell. */
const inheritedNames = ["_", "OLDPWD", "PWD", "SHLVL"];
/** Names that a shell uses itself, and may refuse to set. They are handed to the command by `env`. */
const shellNames: ReadonlySet<string> = new Set(
  inheritedNames.concat("BASHOPTS", "BASH_VERSINFO", "EUID", "IFS", "OPTIND", "PPID", "PS4", "SHELLOPTS", "UID"),
);

/**
 * Returns the script that watches over a container. It outlives the agent, and holds the pipes of the container open
 * until the agent has read them, for which it stops itself at the end. File descriptors: 3 is the output, 4 the
 * errors, 5 the status, which has the lines `pid <n>`, `started`, `exit <code>`, and texts of failures.
 */
export function superviseScript(folder: string, options: SuperviseOptions): string {
  const path = (name: string) => quote(`${folder}/${name}`);
  const setup = `${options.hasOwnMounts ? "unshare --mount --propagation private " : ""}/bin/sh ${path("setup.sh")}`;
  const output = options.isTerminal ? "" : ` >&3 2>&4 <${options.stdin === "none" ? "/dev/null" : path("in")}`;
  return [
    // Signals of a terminal are for the container. A trap, unlike an ignored signal, is not inherited.
    "trap : HUP INT QUIT TERM",
    `exec ${options.isTerminal ? "" : `3<>${path("out")} 4<>${path("err")} `}5<>${path("status")}`,
    // Holding the input open keeps it from ending when the agent does.
    ...(options.stdin === "open" ? [`exec 7<>${path("in")}`] : []),
    `${setup}${output}`,
    "code=$?",
    `echo "$code" >${path("exit")}`,
    'echo "exit $code" >&5',
    "kill -STOP $$",
    "",
  ].join("\n");
}

export interface SuperviseOptions {
  readonly hasOwnMounts: boolean;
  readonly isTerminal: boolean;
  /** `once` ends the input with the agent or with the first client that is attached. */
  readonly stdin: "none" | "once" | "open";
}

/** Returns the script that prepares the surroundings of a container, and then becomes its process. */
export function setupScript(folder: string, launch: Launch): string {
  return [
    'echo "pid $$" >&5',
    // Failures of the setup are told to the agent, not to the log of the container.
    "exec 8>&2 2>&5",
    ...surroundings(launch),
    `exec 6<${quote(`${folder}/command.sh`)}`,
    "echo started >&5",
    "exec 2>&8 3>&- 4>&- 5>&- 7>&- 8>&-",
    becomeCommand(launch),
    "",
  ].join("\n");
}

/** Returns the script that joins a running container, and then becomes the command. Failures go to standard error. */
export function joinScript(commandFile: string, launch: Launch): string {
  return [...surroundings(launch), `exec 6<${quote(commandFile)}`, becomeCommand(launch), ""].join("\n");
}

/**
 * Returns the script that sets the environment and becomes the command. It runs with the rights of the container, so
 * that a variable such as LD_PRELOAD changes nothing that runs with the agent's.
 */
export function commandScript({ command, environment }: Launch): string {
  const set = environment.filter(([name]) => isShellName(name));
  const passed = environment.filter(([name]) => !isShellName(name));
  const forgotten = inheritedNames.flatMap((name) => ["-u", name]);
  const given = passed.map(([name, value]) => `${name}=${value}`);
  return [
    // Closes this script.
    "exec 6<&-",
    ...set.map(([name, value]) => `export ${name}=${quote(value)}`),
    `exec ${["/usr/bin/env", ...forgotten, "--", ...given, ...command].map(quote).join(" ")}`,
    "",
  ].join("\n");
}

/** Returns a text as one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const orFail = ` || exit ${setupFailedCode}`;

function surroundings({ controlGroup, mounts, workingDirectory }: Launch): string[] {
  return [
    ...(controlGroup === undefined ? [] : [`echo $$ >${quote(`${controlGroup}/cgroup.procs`)}${orFail}`]),
    ...mounts.flatMap((mount) => (mount.target === undefined ? mountAt(mount) : mountInPlace(mount, mount.target))),
    `cd ${quote(workingDirectory)}${orFail}`,
  ];
}

function mountAt({ hostPath, containerPath, isReadOnly, isFolder }: LaunchMount): string[] {
  const target = quote(containerPath);
  const parent = quote(parentOf(containerPath));
  const make = isFolder ? `mkdir -p ${target}` : `{ mkdir -p ${parent} && : >>${target}; }`;
  return [
    `[ -e ${target} ] || ${make}${orFail}`,
    `mount --rbind ${quote(hostPath)} ${target}${orFail}`,
    ...(isReadOnly ? [readOnly(target)] : []),
  ];
}

/** Mounts at a path only if it has no links. A volume that is mounted above it may have some. */
function mountInPlace({ hostPath, containerPath, isReadOnly, isFolder }: LaunchMount, target: string): string[] {
  const folder = quote(isFolder ? target : parentOf(target));
  const name = quote(isFolder ? "." : `.${target.slice(target.lastIndexOf("/"))}`);
  const refusal = `{ echo ${quote(`mount at ${containerPath}: the path has a symbolic link`)} >&2; false; }`;
  return [
    `mkdir -p ${folder}${orFail}`,
    // The working directory stays the one that was looked at, also if somebody puts a link in its place.
    `{ cd -P ${folder} && [ "$(pwd -P)" = ${folder} ] && [ ! -h ${name} ]; } || ${refusal}${orFail}`,
    ...(isFolder ? [] : [`[ -e ${name} ] || : >>${name}${orFail}`]),
    `mount --no-canonicalize --rbind ${quote(hostPath)} ${name}${orFail}`,
    ...(isReadOnly ? [readOnly(quote(target))] : []),
  ];
}

function readOnly(target: string): string {
  return `mount -o remount,bind,ro ${target}${orFail}`;
}

function parentOf(path: string): string {
  return path.replace(/\/[^/]*$/, "") || "/";
}

function becomeCommand({ privileges }: Launch): string {
  return ["exec", ...privileges.map(quote), "/bin/sh", "-c", quote('eval "$(cat <&6)"')].join(" ");
}

function isShellName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !shellNames.has(name);
}
