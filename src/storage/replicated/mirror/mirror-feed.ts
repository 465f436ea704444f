import type { Entry as LogRecord } from "../../../../raft/index.ts";
import type { LogSource } from "../log-source.ts";
import { frameKinds, frameOf, uint64 } from "./frame.ts";
import { listenForFrames } from "./frame-socket.ts";
import { MirrorSession } from "./mirror-session.ts";

const noBytes = new Uint8Array(0);

export interface MirrorFeedOptions {
  /** Bytes that a mirror may be behind before it gets a new image. */
  readonly backlogBytesMax?: number;
  readonly listen?: typeof listenForFrames;
}

/** Feeds the mirrors of a replica. Each gets an image of the state, and then every entry of the log. */
export class MirrorFeed implements Disposable {
  readonly #sessions = new Set<MirrorSession>();
  readonly #server: { stop(): void };
  readonly #following: Disposable;

  /**
   * Listens for mirrors.
   * @param path the socket's place. Others must have no access to its directory: a mirror reads and writes everything
   */
  constructor(source: LogSource, path: string, options: MirrorFeedOptions = {}) {
    const { listen = listenForFrames, ...limits } = options;
    this.#following = source.follow({
      applied: (entries) => this.#applied(entries),
      replaced: () => this.#each((session) => session.startOver()),
      leaderChanged: () => this.#each((session) => session.send(frameOf(frameKinds.leader))),
      failed: (reason) => this.#each((session) => session.send(frameOf(frameKinds.failed, Buffer.from(reason)))),
    });
    this.#server = listen(path, () => {
      const session = new MirrorSession({ source, ...limits, onClosed: () => this.#sessions.delete(session) });
      this.#sessions.add(session);
      session.startOver();
      return session.socket;
    });
  }

  /** Ends all connections. The mirrors then answer nothing more. */
  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#server.stop();
    this.#each((session) => session.socket.close());
  }

  /** Sends applied entries. Encodes each of them once, for all mirrors. */
  #applied(entries: readonly LogRecord[]): void {
    if (this.#sessions.size === 0) return;
    for (const { index, kind, data } of entries) {
      const hasData = kind === "normal";
      const parts = [uint64(index), Uint8Array.of(hasData ? 1 : 0), hasData ? data : noBytes];
      const frame = frameOf(frameKinds.logEntry, ...parts);
      this.#each((session) => session.send(frame));
    }
  }

  #each(run: (session: MirrorSession) => void): void {
    for (const session of this.#sessions) run(session);
  }
}
