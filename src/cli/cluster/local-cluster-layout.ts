import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { StartupError } from "../../process/startup-error.ts";
import { writePrivateFile } from "../../access/certificates/private-file.ts";

const host = "127.0.0.1";
const portMax = 65_535;
/** Above the port of the load balancer: those of the replicas' API, of what they say to each other, and of gossip. */
const offsets = { port: 0, peerPort: 10, gossipPort: 20 } as const;
const portNames = ["port", "peerPort", "gossipPort"] as const;

/** Where one replica is: addresses are recorded in the cluster's state, and so stay as they were at the first start. */
export interface LocalMember {
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  readonly peerPort: number;
  readonly gossipPort: number;
}

/** What a cluster on one machine has in its directory. */
export interface LocalLayout {
  readonly directory: string;
  /** Of the load balancer. */
  readonly port: number;
  readonly members: readonly [LocalMember, ...LocalMember[]];
}

/** Whether there is a replica in its directory, which may have voted and must not get lost. */
export function isMade({ directory }: LocalMember): boolean {
  return isBegun(directory) && existsSync(join(directory, "log"));
}

/** Takes away what a start has left that was cut short before the replica was opened for the first time. */
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
 * The ports and directories of `count` replicas: as they were, and for new ones those above `port`, or free ones where these
 * are taken.
 * @param port of the load balancer; undefined: as it was, or the one by default; 0: as it was, or a free one
 * @throws StartupError where there are more members than asked for
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
  await using ports = new PortPicker(recorded.flatMap((member) => portNames.map((name) => member[name])));
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
  if (first === undefined) throw new StartupError("--replicas: a cluster has one at least");
  return { directory, port: balancerPort, members: [first, ...others] };
}

type PortsOfMember = Omit<LocalMember, "directory">;

function parseLayout(text: string, file: string): { port: number; members: readonly PortsOfMember[] } {
  const value = parseJson(text);
  const { port, members } = isJsonObject(value) ? value : {};
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

/** Gives each port once: it holds all of them until it is disposed. */
class PortPicker implements AsyncDisposable {
  readonly #taken: Set<number>;
  readonly #held = new AsyncDisposableStack();

  constructor(taken: readonly number[]) {
    this.#taken = new Set(taken);
  }

  /** The wanted port, or any free one where it is taken or 0. */
  async pick(wanted: number): Promise<number> {
    const port = wanted > portMax || this.#taken.has(wanted) ? 0 : wanted;
    return (await this.#hold(port)) ?? (await this.#hold(0)) ?? wanted;
  }

  async #hold(port: number): Promise<number | undefined> {
    const server = createServer();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    server.on("error", () => resolve(false)).listen(port, host, () => resolve(true));
    if (!(await promise)) return undefined;
    this.#held.defer(() => new Promise<void>((done) => void server.close(() => done())));
    const { port: held } = server.address() as { port: number };
    this.#taken.add(held);
    return held;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#held.disposeAsync();
  }
}
