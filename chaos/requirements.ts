import { existsSync } from "node:fs";

/** A tool that only some fault classes need. */
export type Tool = "strace" | "faketime";

/** Paths of the library on Debian and its derivatives. When preloaded, it changes the time that a process sees. */
const faketimeLibraries = ["x86_64", "aarch64"].map(
  (machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`,
);

export const faketimeLibrary = faketimeLibraries.find((path) => existsSync(path));

/** Returns the reasons why runs are impossible here, one line each. */
export function obstacles({ etcdMembers }: { readonly etcdMembers: number }): string[] {
  const found: string[] = [];
  if (process.platform !== "linux") return ["faults are injected with features of Linux; this is not Linux"];
  if (process.getuid?.() !== 0) found.push("namespaces, mounts and devices need root");
  for (const [command, from] of etcdMembers > 0 ? [...commands, etcd] : commands) {
    if (Bun.which(command) === null) found.push(`there is no ${command} (Debian: ${from})`);
  }
  if (found.length === 0 && !maySeparate()) found.push("root cannot create namespaces here, as in a container");
  for (const [device, use] of devices) if (!existsSync(device)) found.push(`there is no ${device}: ${use}`);
  return found;
}

function maySeparate(): boolean {
  const command = ["unshare", "--mount", "--net", "--pid", "--fork", "mount", "-t", "tmpfs", "tmpfs", "/mnt"];
  return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).success;
}

const commands = [
  ["unshare", "util-linux"],
  ["nsenter", "util-linux"],
  ["mount", "mount"],
  ["mkfs.ext4", "e2fsprogs"],
  ["ip", "iproute2"],
] as const;

const etcd = ["etcd", "etcd-server"] as const;

const devices = [
  ["/dev/net/tun", "a switch of the harness connects the members"],
  ["/dev/loop-control", "each member has a disk of its own"],
] as const;

/** Returns the reason why a class that needs this tool cannot run here, or undefined if it can. */
export function whyWithout(tool: Tool): string | undefined {
  switch (tool) {
    case "strace":
      return Bun.which("strace") === null ? "there is no strace, which makes system calls fail" : undefined;
    case "faketime":
      return faketimeLibrary === undefined ? "there is no libfaketime, which moves a process's clock" : undefined;
  }
}
