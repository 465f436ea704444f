import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { writePrivateFile } from "../../access/certificates/private-file.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { StartupError } from "../../process/startup-error.ts";

const host = "127.0.0.1";
const portMax = 65_535;
/** Offsets from the load balancer's port for the replicas' ports: API, peers and gossip. */
const offsets = { port: 0, peerPort: 10, gossipPort: 20 } as const;
const portNames = ["port", "peerPort", "gossipPort"] as const;

/** The addresses and directory of one replica. The cluster's state records the addresses, so they never change. */
export interface LocalMember {
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  readonly peerPort: number;
  readonly gossipPort: number;
}

/** The ports and directories of a cluster on one machine. */
export interface LocalLayout {
  readonly directory: string;
  /** The load balancer's port. */
  readonly port: number;
  readonly members: readonly [LocalMember, ...LocalMember[]];
}

/** Reports whether the directory holds a replica. It may have voted, so it must not be lost. */
export function isMade({ directory }: LocalMember): boolean {
  return isBegun(directory) && existsSync(join(directory, "log"));
}

/** Removes the remains of a start that was interrupted before the replica was first opened. */
export async function clear(member: LocalMember): Promise<void> {
  if (isBegun(member.directory) && !isMade(member)) await rm(member.directory, { recursive: true });
}

function isBegun(directory: string): boolean {
  return existsSync(join(directory, "identity.json"));
}

export function urlOf({ port }: LocalMember): string {
  return `https://${host}:${port}`;
}

/**
 * Opens the ports and directories of `count` replicas. Existing replicas keep theirs. New ones get ports above `port`, or
 * free ports if those are taken.
 * @param port the load balancer's port; undefined for the recorded one or the default, 0 for the recorded one or a free
 * one
 * @throws StartupError when more replicas are recorded than `count`
 */
export async function openLayout(
  directory: string,
  count: number,
  port: number | undefined,
  portDefault: number,
): Promise<LocalLayout> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "cluster.json");
  const known = existsSync(file) ? parseLayout(readFileSync(file, "utf8"), file) : undefined;
  const recorded = known?.members ?? [];
  if (recorded.length > count) {
    throw new StartupError(
      `${directory} holds ${recorded.length} replicas: give --replicas ${recorded.length}, or choose another --data-dir`,
    );
  }
  const recordedPorts = recorded.flatMap((member) => portNames.map((name) => member[name]));
  await using ports = new PortPicker([...recordedPorts, known?.port ?? 0, port ?? 0]);
  const balancerPort =
    port === undefined || port === 0 ? (known?.port ?? (await ports.pick(port ?? portDefault))) : port;
  const added: PortsOfMember[] = [];
  for (let number = recorded.length + 1; number <= count; number++) {
    const near = (name: (typeof portNames)[number]) =>
      ports.pick(port === 0 ? 0 : balancerPort + offsets[name] + number);
    const own = { port: await near("port"), peerPort: await near("peerPort"), gossipPort: await near("gossipPort") };
    added.push({ name: `m${number}`, ...own });
  }
  const members = [...recorded, ...added];
  await writePrivateFile(file, `${JSON.stringify({ port: balancerPort, members }, null, 2)}\n`);
  const [first, ...others] = members.map((member) => ({ ...member, directory: join(directory, member.name) }));
  if (first === undefined) throw new StartupError("--replicas: a cluster has at least one");
  return { directory, port: balancerPort, members: [first, ...others] };
}

type PortsOfMember = Omit<LocalMember, "directory">;

function parseLayout(text: string, file: string): { port: number; members: readonly PortsOfMember[] } {
  const value = parseJson(text);
  const { port, members } = objectOf(value);
  if (isPort(port) && Array.isArray(members) && members.every(isMember)) return { port, members };
  throw new StartupError(`${file} is damaged: restore it, or choose another --data-dir`);
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function isMember(value: JsonValue): value is PortsOfMember & JsonObject {
  return (
    isJsonObject(value) &&
    typeof value["name"] === "string" &&
    /^m[1-9]$/.test(value["name"]) &&
    portNames.every((name) => isPort(value[name]))
  );
}

function isPort(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= portMax;
}

/** Never gives a port twice, and holds all of them until it is disposed. */
class PortPicker implements AsyncDisposable {
  readonly #taken: Set<number>;
  readonly #held = new AsyncDisposableStack();

  constructor(taken: readonly number[]) {
    this.#taken = new Set(taken);
  }

  /** Returns the wanted port, or any free one if it is taken or 0. */
  async pick(wanted: number): Promise<number> {
    const near = wanted === 0 || wanted > portMax ? undefined : await this.#hold(wanted);
    if (near !== undefined) return near;
    // The system may offer a recorded port of a stopped replica. Holding it makes the next offer differ.
    for (let tries = 0; tries <= this.#taken.size; tries++) {
      const free = await this.#hold(0);
      if (free !== undefined) return free;
    }
    return wanted;
  }

  /** Holds the port. Returns undefined if it is in use or was already given. */
  async #hold(port: number): Promise<number | undefined> {
    const server = createServer();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    server.on("error", () => resolve(false)).listen(port, host, () => resolve(true));
    if (!(await promise)) return undefined;
    this.#held.defer(() => new Promise<void>((done) => void server.close(() => done())));
    const { port: held } = server.address() as { port: number };
    if (this.#taken.has(held)) return undefined;
    this.#taken.add(held);
    return held;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#held.disposeAsync();
  }
}
