import { randomBytes, X509Certificate } from "node:crypto";
import * as tls from "node:tls";
import type { MemberId } from "../core/ids.ts";
import type { InstallSnapshot, Message } from "../core/message.ts";
import { ProtocolError } from "./byte-reader.ts";
import { Connection } from "./connection.ts";
import type { Frame } from "./frame.ts";
import { type ConnectionKind, decodeHandshake, encodeHello, encodeRefusal, type Hello } from "./handshake.ts";
import { IncomingSnapshot } from "./incoming-snapshot.ts";
import { KnownMembers, type MayHaveJoined, type WasRemoved } from "./known-members.ts";
import { decodeMessage } from "./message-codec.ts";
import { encodeFrames, OutgoingLane } from "./outgoing-lane.ts";
import { OutgoingSnapshot } from "./outgoing-snapshot.ts";
import { PeerRegistry, type Self } from "./peer-registry.ts";
import { decodeSnapshotFrame } from "./snapshot-frames.ts";
import type { HandshakeRefusal, Transport, TransportEvents } from "./transport.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** TLS files in PEM. */
export interface TlsFiles {
  /** One authority, or several during a rotation. They sign only members of this cluster. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface TlsTransportOptions {
  readonly clusterId: string;
  readonly memberId: MemberId;
  /** Number of times the log was opened. */
  readonly starts: number;
  readonly listen: Address;
  /** Returns the address of a member, or undefined while it is unknown. Called before each connection. */
  readonly addressOf: (member: MemberId) => Address | undefined;
  /** Returns the TLS files. Called before each connection; the listener changes with `reloadCertificates`. */
  readonly tls: () => TlsFiles;
  /** DNS name in a member's certificate; `member-<id>` by default. */
  readonly certificateName?: (member: MemberId) => string;
  /** Always false by default. */
  readonly mayHaveJoined?: MayHaveJoined;
  /** Always false by default. */
  readonly wasRemoved?: WasRemoved;
  /** Time without input after which a connection is closed. */
  readonly silenceMs?: number;
  readonly snapshotBytesPerSecond?: number;
}

const defaultSilenceMs = 2000;
const pingsPerSilence = 4;
/**
 * Silent intervals after which an accepted connection is closed. Longer than for our own connections, because a snapshot
 * that waits for its receiver is silent.
 */
const acceptedSilentTurnsMax = 20 * pingsPerSilence;
const handshakeMsMax = 5000;
const handshakeBytesMax = 1024;
const connectionsMax = 1024;
const controlFrameBytesMax = 64 << 10;
/** Largest frame: a proposal of the largest size, or an append with one such entry. */
const bulkFrameBytesMax = 20 << 20;
const snapshotFrameBytesMax = 1 << 20;
const controlQueueBytesMax = 4 << 20;
const bulkQueueBytesMax = 64 << 20;
const answerQueueBytesMax = 4 << 20;
const defaultSnapshotBytesPerSecond = 256 << 20;

const frameBytesMax: Record<ConnectionKind, number> = {
  control: controlFrameBytesMax,
  bulk: bulkFrameBytesMax,
  snapshot: snapshotFrameBytesMax,
};

interface Peer {
  readonly control: OutgoingLane;
  readonly bulk: OutgoingLane;
}

/** The part of a `Hello` to which a connection stays bound. */
type Other = Pick<Hello, "from" | "kind" | "incarnation">;

/**
 * Mutual TLS on one port. Each member connects to every other and sends over its own connections. A member that the log
 * does not name yet is answered over the connections that it made, because its address is unknown.
 */
export class TlsTransport implements Transport {
  readonly #options: TlsTransportOptions;
  readonly #self: Self;
  readonly #registry: PeerRegistry;
  readonly #server: tls.Server;
  readonly #peers = new Map<MemberId, Peer>();
  /** Connections that other members made. */
  readonly #accepted = new Map<Connection, Other>();
  /** All open sockets, including sockets before their handshake. */
  readonly #sockets = new Set<tls.TLSSocket>();
  /** Authorities that `#server` trusts. */
  #ca: string;
  #incoming: IncomingSnapshot | undefined;
  #events: TransportEvents | undefined;
  #pinging: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  constructor(options: TlsTransportOptions) {
    this.#options = options;
    const nonce = randomBytes(8).toString("hex");
    const { clusterId, memberId, starts } = options;
    this.#self = { clusterId, memberId, incarnation: { starts, nonce } };
    const known = new KnownMembers(options.mayHaveJoined, options.wasRemoved);
    this.#registry = new PeerRegistry(this.#self, this.#silenceMs, () => performance.now(), known);
    const files = options.tls();
    this.#ca = files.ca;
    this.#server = tls.createServer(serverOptions(files), (socket) => this.#accept(socket));
    this.#server.on("connection", (socket) => this.#keep(socket as tls.TLSSocket));
    this.#server.maxConnections = connectionsMax;
  }

  /** Listening address. A requested port 0 is replaced by the real one. */
  get address(): Address {
    const address = this.#server.address();
    return {
      host: this.#options.listen.host,
      port: typeof address === "object" && address !== null ? address.port : 0,
    };
  }

  async start(events: TransportEvents): Promise<void> {
    this.#events = events;
    const { host, port } = this.#options.listen;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => resolve());
    });
    this.#server.on("error", () => {});
    this.#pinging = setInterval(() => this.#ping(), this.#silenceMs / pingsPerSilence);
  }

  /**
   * Uses the new files for new connections. Open ones stay unless their peer's certificate belongs to a removed
   * authority.
   */
  reloadCertificates(): void {
    const files = this.#options.tls();
    this.#server.setSecureContext(serverOptions(files));
    const before = certificatesOf(this.#ca);
    const authorities = certificatesOf(files.ca);
    this.#ca = files.ca;
    if (before.every((one) => authorities.some((other) => other.raw.equals(one.raw)))) return;
    for (const socket of this.#sockets) if (!isSignedByOneOf(authorities, socket)) socket.destroy();
  }

  setMembers(members: readonly MemberId[]): void {
    this.#registry.setMembers(members);
    const others = new Set(members.filter((member) => member !== this.#self.memberId));
    for (const [member, { control, bulk }] of this.#peers) {
      if (others.has(member)) continue;
      this.#peers.delete(member);
      control.close();
      bulk.close();
    }
    for (const [connection, { from }] of this.#accepted) {
      if (this.#registry.refusalOf(from) !== undefined) connection.close();
    }
    for (const member of others) if (!this.#peers.has(member)) this.#peers.set(member, this.#openPeer(member));
  }

  send(messages: readonly Message[]): void {
    if (messages.length === 0 || this.#closed) return;
    const byReceiver = new Map<MemberId, { control: Message[]; bulk: Message[] }>();
    for (const message of messages) {
      const lanes = byReceiver.get(message.to) ?? { control: [], bulk: [] };
      byReceiver.set(message.to, lanes);
      lanes[laneOf(message)].push(message);
    }
    for (const [member, lanes] of byReceiver) {
      for (const kind of ["control", "bulk"] as const) {
        const lane = this.#peers.get(member)?.[kind];
        if (lane === undefined) this.#answer(member, kind, lanes[kind]);
        else if (lanes[kind].length > 0) lane.send(lanes[kind]);
      }
    }
  }

  /** Sends over a connection that the other side made. */
  #answer(member: MemberId, kind: ConnectionKind, messages: readonly Message[]): void {
    const [connection] = [...this.#accepted].find(([, other]) => other.from === member && other.kind === kind) ?? [];
    if (connection !== undefined && connection.pendingBytes < answerQueueBytesMax) {
      return connection.writeFrames(encodeFrames(messages));
    }
    const reason = connection === undefined ? "unknown" : "queueFull";
    for (const message of messages) this.#events?.dropped(message, reason);
  }

  sendSnapshot(message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const outgoing = new OutgoingSnapshot({
      message,
      chunks,
      bytesPerSecond: this.#options.snapshotBytesPerSecond ?? defaultSnapshotBytesPerSecond,
      dial: (closed) => this.#dial(message.to, "snapshot", closed),
      isCancelled: () => this.#closed || !this.#peers.has(message.to),
    });
    return outgoing.run();
  }

  queuedBytes(member: MemberId): number {
    const peer = this.#peers.get(member);
    return peer === undefined ? 0 : peer.control.queuedBytes + peer.bulk.queuedBytes;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#pinging);
    for (const { control, bulk } of this.#peers.values()) {
      control.close();
      bulk.close();
    }
    this.#incoming?.abort("the transport was closed");
    for (const connection of this.#accepted.keys()) connection.close();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  get #silenceMs(): number {
    return this.#options.silenceMs ?? defaultSilenceMs;
  }

  #ping(): void {
    for (const { control, bulk } of this.#peers.values()) {
      control.ping(pingsPerSilence);
      bulk.ping(pingsPerSilence);
    }
    // The connecting side pings. A snapshot's sender is heard while it sends.
    for (const connection of this.#accepted.keys()) connection.countSilence(acceptedSilentTurnsMax);
  }

  #openPeer(member: MemberId): Peer {
    const events = this.#required();
    const lane = (kind: ConnectionKind, queueBytesMax: number) =>
      new OutgoingLane({ member, queueBytesMax, events, dial: (closed) => this.#dial(member, kind, closed) });
    return { control: lane("control", controlQueueBytesMax), bulk: lane("bulk", bulkQueueBytesMax) };
  }

  #required(): TransportEvents {
    if (this.#events === undefined) throw new Error("the transport was not started");
    return this.#events;
  }

  /** Connects and completes the handshake. Rejects when the other side cannot be reached. */
  #dial(member: MemberId, kind: ConnectionKind, closed: () => void): Promise<Connection | HandshakeRefusal> {
    const address = this.#options.addressOf(member);
    if (address === undefined) return Promise.reject(new Error(`no address of member ${member} is known`));
    return new Promise((resolve, reject) => {
      const socket = tls.connect({
        ...this.#options.tls(),
        ...address,
        servername: this.#nameOf(member),
        minVersion: "TLSv1.3",
        rejectUnauthorized: true,
      });
      this.#keep(socket);
      const deadline = setTimeout(() => connection.close(), handshakeMsMax);
      const settled = (outcome: () => void) => {
        clearTimeout(deadline);
        outcome();
      };
      const refuse = (refusal: HandshakeRefusal) => {
        settled(() => resolve(refusal));
        connection.close();
      };
      const connection = new Connection(socket, frameBytesMax[kind], {
        closed: () => settled(() => reject(new Error(`member ${member} cannot be reached`))),
        frame: (frame) => {
          const reply = decodeHandshake(frame.whole());
          if ("refusal" in reply) return refuse(reply.refusal);
          const { hello } = reply;
          const refusal =
            hello.from === member
              ? this.#registry.judge(hello, certifies(socket, this.#nameOf(member)))
              : "wrongMember";
          // `removed` would claim that this member was removed.
          if (refusal !== undefined) return refuse(refusal === "removed" ? "unknown" : refusal);
          this.#count(connection, hello);
          connection.handOver({ closed, frame: (frame) => this.#receive(frame, { ...hello, kind }) });
          settled(() => resolve(connection));
        },
      });
      connection.whenClosed((violation) => violation && this.#events?.violated(member, violation));
      socket.once("secureConnect", () => connection.writeFrame(encodeHello(this.#hello(member, kind))));
    });
  }

  #keep(socket: tls.TLSSocket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #accept(socket: tls.TLSSocket): void {
    if (!socket.authorized || this.#closed) return void socket.destroy();
    const deadline = setTimeout(() => connection.close(), handshakeMsMax);
    const connection = new Connection(socket, bulkFrameBytesMax, {
      closed: () => clearTimeout(deadline),
      frame: (frame) => {
        clearTimeout(deadline);
        if (frame.length > handshakeBytesMax) throw new ProtocolError("a handshake is too long");
        this.#welcome(connection, socket, frame.whole());
      },
    });
    connection.whenClosed(
      (violation) => violation && this.#events?.violated(this.#accepted.get(connection)?.from, violation),
    );
    connection.whenClosed(() => this.#accepted.delete(connection));
  }

  #welcome(connection: Connection, socket: tls.TLSSocket, frame: Buffer): void {
    const reply = decodeHandshake(frame);
    const refusal =
      "refusal" in reply
        ? reply.refusal
        : this.#registry.judge(reply.hello, certifies(socket, this.#nameOf(reply.hello.from)));
    if (refusal !== undefined || "refusal" in reply) {
      connection.writeFrame(encodeRefusal(refusal ?? "version"));
      connection.end();
      return;
    }
    const { hello } = reply;
    this.#count(connection, hello);
    this.#accepted.set(connection, hello);
    connection.writeFrame(encodeHello(this.#hello(hello.from, hello.kind)));
    connection.handOver(
      hello.kind === "snapshot" ? this.#snapshotEvents(connection, hello) : this.#laneEvents(connection, hello),
    );
  }

  #count(connection: Connection, { from, incarnation }: Hello): void {
    this.#registry.opened(from, incarnation);
    connection.whenClosed(() => {
      if (this.#registry.closed(from, incarnation) && !this.#closed) this.#events?.gone?.(from);
    });
  }

  #laneEvents(connection: Connection, hello: Hello) {
    return {
      closed: () => {},
      frame: (frame: Frame) => {
        if (frame.length === 0) connection.ping();
        this.#receive(frame, hello);
      },
    };
  }

  /** Handles a message, or an empty frame, which shows that the other side is alive. */
  #receive(frame: Frame, { from, incarnation, kind }: Other): void {
    this.#registry.heard(from, incarnation);
    if (frame.length === 0) return;
    if (frame.length > frameBytesMax[kind]) throw new ProtocolError("a frame is too large for this lane");
    const message = decodeMessage(frame.pieces);
    if (message.from !== from || message.to !== this.#self.memberId || laneOf(message) !== kind) {
      throw new ProtocolError("a message does not belong on this connection");
    }
    this.#events?.receive(message);
  }

  /** Returns handlers that identify the transfer by the first frame and pass it the others. */
  #snapshotEvents(connection: Connection, { from }: Hello) {
    return {
      closed: () => {},
      frame: (received: Frame) => {
        if (received.length === 0) return connection.ping();
        const frame = decodeSnapshotFrame(received.whole());
        if (frame.kind !== "begin" || frame.message.from !== from || frame.message.to !== this.#self.memberId) {
          throw new ProtocolError("a snapshot does not belong on this connection");
        }
        this.#incomingOf(frame.transfer, frame.message).attach(connection);
      },
    };
  }

  /**
   * Returns the transfer of a frame. Only one runs at a time: a new one, from the same sender or a newer leader, replaces
   * it.
   */
  #incomingOf(transfer: string, message: InstallSnapshot): IncomingSnapshot {
    if (this.#incoming?.transfer === transfer) return this.#incoming;
    this.#incoming?.abort("another snapshot took its place");
    const events = this.#required();
    this.#incoming = new IncomingSnapshot(transfer, message, (what, chunks) => events.receiveSnapshot(what, chunks));
    return this.#incoming;
  }

  #hello(to: MemberId, kind: ConnectionKind): Hello {
    const { clusterId, memberId, incarnation } = this.#self;
    return { kind, clusterId, from: memberId, to, incarnation };
  }

  #nameOf(member: MemberId): string {
    return this.#options.certificateName?.(member) ?? `member-${member}`;
  }
}

function laneOf(message: Message): "control" | "bulk" {
  return message.type === "append" || message.type === "propose" ? "bulk" : "control";
}

function serverOptions(files: TlsFiles): tls.TlsOptions {
  return {
    ...files,
    handshakeTimeout: handshakeMsMax,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: "TLSv1.3",
  };
}

/** Reports whether the certificate belongs to this member. TLS has already checked its authority. */
function certifies(socket: tls.TLSSocket, name: string): boolean {
  const names = socket.getPeerCertificate()?.subjectaltname ?? "";
  return names.split(", ").includes(`DNS:${name}`);
}

function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Reports whether one of the authorities signed the peer's certificate. False before its handshake is complete. */
function isSignedByOneOf(authorities: readonly X509Certificate[], socket: tls.TLSSocket): boolean {
  const raw: Buffer | undefined = socket.getPeerCertificate()?.raw;
  if (raw === undefined) return false;
  const certificate = new X509Certificate(raw);
  return authorities.some(({ publicKey }) => certificate.verify(publicKey));
}
