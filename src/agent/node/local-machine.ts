import { readdir, readFile, statfs } from "node:fs/promises";
import { cpus, freemem, networkInterfaces, release, totalmem } from "node:os";
import { join } from "node:path";
import { formatQuantity, nanosPerUnit } from "../../api/quantity.ts";
import type { Machine, MachineInfo, MachineUsage, Supply } from "./machine.ts";
import { loopbackAddress } from "./measured-machine.ts";

const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };
const hugePagesFolder = "sys/kernel/mm/hugepages";

export interface LocalMachineOptions {
  /** Directory whose file system holds the files of pods. */
  readonly rootDirectory: string;
  /** Root of `/proc`, `/sys` and `/etc`; tests have their own. */
  readonly systemRoot?: string | undefined;
}

/** Measures this machine. Facts that its operating system does not offer are absent or empty. */
export function localMachine({ rootDirectory, systemRoot = "/" }: LocalMachineOptions): Machine {
  const read = async (path: string) => (await readFile(join(systemRoot, path), "utf8").catch(() => "")).trim();
  return {
    async info() {
      const [machineId, productUuid, bootId, osRelease, memory, routes] = await Promise.all([
        read("etc/machine-id"),
        read("sys/class/dmi/id/product_uuid"),
        read("proc/sys/kernel/random/boot_id"),
        read("etc/os-release"),
        read("proc/meminfo"),
        read("proc/net/route"),
      ]);
      const disk = await diskOf(rootDirectory);
      const hugePages = await hugePagesIn(join(systemRoot, hugePagesFolder), read);
      return {
        capacity: {
          cpu: String(cpus().length),
          ...(disk.space === undefined ? {} : { "ephemeral-storage": bytesText(disk.space.capacity) }),
          ...hugePages,
          memory: bytesText(memoryField(memory, "MemTotal") ?? totalmem()),
        },
        swapBytes: memoryField(memory, "SwapTotal") ?? 0,
        machineId,
        systemUuid: productUuid || machineId,
        bootId,
        kernelVersion: release(),
        osImage: osName(osRelease),
        operatingSystem: process.platform,
        architecture: architectures[process.arch] ?? process.arch,
        addresses: addressesOf(defaultInterface(routes)),
      } satisfies MachineInfo;
    },
    async usage() {
      const [memory, load, pidMax, threadsMax] = await Promise.all([
        read("proc/meminfo"),
        read("proc/loadavg"),
        read("proc/sys/kernel/pid_max"),
        read("proc/sys/kernel/threads-max"),
      ]);
      const { space, inodes } = await diskOf(rootDirectory);
      const available = memoryField(memory, "MemAvailable") ?? freemem();
      const capacity = memoryField(memory, "MemTotal") ?? totalmem();
      return {
        "memory.available": { available, capacity },
        ...(space === undefined ? {} : { "nodefs.available": space, "imagefs.available": space }),
        ...(inodes === undefined ? {} : { "nodefs.inodesFree": inodes, "imagefs.inodesFree": inodes }),
        ...processSupply(load, [pidMax, threadsMax]),
      } satisfies MachineUsage;
    },
  };
}

/** Formats a number of bytes as upstream does: `8148328Ki`. */
function bytesText(bytes: number): string {
  return formatQuantity({ nanos: BigInt(Math.floor(bytes)) * nanosPerUnit, format: "binarySI" });
}

/** Returns a field of `/proc/meminfo`, which counts in KiB, as bytes. */
function memoryField(text: string, name: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(`${name}:`));
  const kibibytes = /(\d+) kB/.exec(line ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
}

/** Returns how many processes and threads may still start. `/proc/loadavg` contains `running/existing`. */
function processSupply(load: string, limits: readonly string[]): MachineUsage {
  const existing = Number(load.split(" ")[3]?.split("/")[1]);
  const capacity = Math.min(...limits.filter((text) => text !== "").map(Number));
  if (!Number.isFinite(existing) || !Number.isFinite(capacity)) return {};
  return { "pid.available": { available: Math.max(0, capacity - existing), capacity } };
}

async function diskOf(directory: string): Promise<{ space?: Supply; inodes?: Supply }> {
  const state = await statfs(directory).catch(() => undefined);
  if (state === undefined) return {};
  const { bsize, bavail, blocks, ffree, files } = state;
  const space = { available: bavail * bsize, capacity: blocks * bsize };
  // Some file systems, such as btrfs, have no fixed number of inodes.
  return files === 0 ? { space } : { space, inodes: { available: ffree, capacity: files } };
}

async function hugePagesIn(
  folder: string,
  read: (path: string) => Promise<string>,
): Promise<Record<`hugepages-${string}`, string>> {
  const sizes = await readdir(folder).catch((): string[] => []);
  const amounts = sizes.map(async (name) => {
    const kibibytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]);
    const pages = Number(await read(`${hugePagesFolder}/${name}/nr_hugepages`));
    return [`hugepages-${bytesText(kibibytes * 1_024)}`, bytesText(pages * kibibytes * 1_024)] as const;
  });
  return Object.fromEntries(await Promise.all(amounts));
}

function osName(osRelease: string): string {
  const line = osRelease.split("\n").find((one) => one.startsWith("PRETTY_NAME="));
  return line?.slice("PRETTY_NAME=".length).replaceAll(/^"|"$/g, "") ?? process.platform;
}

/** Returns the interface of the route to everywhere. Fields of `/proc/net/route` are interface, destination, gateway. */
function defaultInterface(routes: string): string | undefined {
  const fields = routes.split("\n").map((line) => line.split("\t"));
  return fields.find(([, destination]) => destination === "00000000")?.[0];
}

/** Returns one IPv4 and one IPv6 address at most; the loopback address of a machine without a network. */
function addressesOf(preferred: string | undefined): string[] {
  const interfaces = Object.entries(networkInterfaces()).toSorted(
    ([a], [b]) => Number(b === preferred) - Number(a === preferred),
  );
  const usable = interfaces
    .flatMap(([, addresses]) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  const found = (["IPv4", "IPv6"] as const).flatMap(
    (wanted) => usable.find(({ family }) => family === wanted)?.address ?? [],
  );
  return found.length === 0 ? [loopbackAddress] : found;
}
