import { noMember, RaftError, toIndex } from "../../../../raft/index.ts";
import { type Clock, systemClock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { AppliedFeed } from "../../applied-feed.ts";
import { StoreUnavailableError } from "../../store.ts";
import { LeaderWatch } from "../leader-watch.ts";
import { Proposer } from "../proposer.ts";
import { ReplicatedStore } from "../replicated-store.ts";
import { connectFrames } from "./frame-socket.ts";
import { MirrorLink } from "./mirror-link.ts";
import { MirrorState } from "./mirror-state.ts";

export interface OpenMirror {
  readonly store: ReplicatedStore;
  /** The log index up to which everything is applied. */
  readonly index: number;
  /** Resolves with the reason when the mirror can no longer follow the log. */
  readonly ended: Promise<Error>;
}

export interface MirrorOptions {
  readonly clock?: Clock;
  /** Name that no other proposer ever has; random by default. */
  readonly origin?: string;
  readonly connect?: typeof connectFrames;
}

/**
 * Opens a copy of the state that another process of this server keeps. Resolves when the copy is complete.
 * @param path the socket of the other process's `MirrorFeed`
 * @throws Error if nobody listens there
 */
export async function openMirror(path: string, options: MirrorOptions = {}): Promise<OpenMirror> {
  const { clock = systemClock, origin, connect = connectFrames } = options;
  const ended = Promise.withResolvers<Error>();
  const complete = Promise.withResolvers<void>();
  const feed = new AppliedFeed(clock);
  const proposer = new Proposer({
    propose: (bytes) => link.propose(bytes),
    appliedIndex: () => state.index,
    clock,
    ...(origin === undefined ? {} : { origin }),
  });
  const state = new MirrorState({ feed, proposer, link: () => link });
  const leader = new LeaderWatch(noMember, clock, () => undefined);
  const end = (reason: string): void => {
    store.fail(new StoreUnavailableError(reason));
    ended.resolve(new Error(reason));
    complete.reject(new Error(reason));
    link.close();
  };
  const link = await MirrorLink.connect(path, connect, {
    imageBegin: (header) => state.imageBegin(header),
    imageEntries: (list) => state.imageEntries(list),
    imageEnd() {
      state.imageEnd();
      complete.resolve();
    },
    logEntry(index, data) {
      try {
        state.apply(index, data);
      } catch (error) {
        end(`the copy of the state is wrong: ${thrownText(error)}`);
      }
    },
    leaderChanged: () => proposer.leaderChanged(),
    failed: (reason) => store.fail(new StoreUnavailableError(reason)),
    closed: () => end("the process that keeps the log has ended"),
  });
  const store = new ReplicatedStore({
    state,
    node: {
      readAlone: () => undefined,
      async readIndex() {
        const index = await link.readIndex();
        // Entries travel ahead of the answer, unless a new image has begun since.
        if (index > state.index) throw new RaftError("unconfirmed", noMember);
        return toIndex(index);
      },
      stop: async () => link.close(),
    },
    proposer,
    feed,
    leader,
    clock,
    verifier: new DisposableStack(),
    handOver: async () => undefined,
    release: async () => undefined,
  });
  await complete.promise;
  return {
    store,
    get index() {
      return state.index;
    },
    ended: ended.promise,
  };
}
