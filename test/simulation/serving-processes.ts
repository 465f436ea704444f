import { Violation } from "../../raft/testing/simulator/violation.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import type { CacherLimits } from "../../src/storage/cacher/limits.ts";
import type { LogSource } from "../../src/storage/replicated/log-source.ts";
import { frameKinds } from "../../src/storage/replicated/mirror/frame.ts";
import { FrameSocket, type FrameSocketEvents } from "../../src/storage/replicated/mirror/frame-socket.ts";
import { MirrorFeed } from "../../src/storage/replicated/mirror/mirror-feed.ts";
import { openMirror } from "../../src/storage/replicated/mirror/open-mirror.ts";
import { connectLocally } from "./local-connection.ts";
import { originOf } from "./replica-machine.ts";
import { ServingClock } from "./serving-clock.ts";
import { ServingProcess } from "./serving-process.ts";
import type { HostReplica } from "./simulated-server.ts";

const restartMsMax = 1_000;
const troubleMsMax = 4_000;
/** Maximum durations of pauses. Mirrors fall behind in long ones. */
const pausesMsMax = [500, 20_000];
/** More than an image has. A mirror that may be less behind would get one image after the other. */
const imageBytesMax = 24_000;
/** Above the number of starts of a member, so that no replica has the same origin. */
const firstNumber = 5_000;

export interface ServingCounts {
  servingStarts: number;
  servingKills: number;
  servingPauses: number;
  /** Number of images that mirrors got, the first one of each included. */
  servingImages: number;
}

/** The traits of all serving processes of a seed. */
export class ServingTraits {
  readonly counts: ServingCounts = { servingStarts: 0, servingKills: 0, servingPauses: 0, servingImages: 0 };
  /** Number of processes beside each replica. */
  readonly processes: number;
  readonly backlogBytesMax: number;
  readonly fail: (error: Violation) => void;
  #number = firstNumber;

  /** @param fail reports a process that ended by itself */
  constructor({ random }: World, fail: (error: Violation) => void) {
    this.processes = random.between(1, 2);
    this.backlogBytesMax = random.pick([imageBytesMax, 64 * 1024 * 1024]);
    this.fail = fail;
  }

  /** Returns a number that no other process has. */
  nextNumber(): number {
    return ++this.#number;
  }
}

export interface ServingProcessesOptions {
  readonly replica: HostReplica;
  readonly source: LogSource;
  readonly world: World;
  readonly traits: ServingTraits;
  readonly limits: Partial<CacherLimits>;
}

interface Running {
  readonly clock: ServingClock;
  frames: FrameSocket | undefined;
  server: ServingProcess | undefined;
  isKilled: boolean;
}

/** The serving processes of a replica. They are killed and paused at random, and replaced. */
export class ServingProcesses {
  readonly #options: ServingProcessesOptions;
  readonly #running = new Set<Running>();
  #accept: () => FrameSocket = () => {
    throw new Error("nobody listens");
  };

  constructor(options: ServingProcessesOptions) {
    this.#options = options;
    const { source, traits } = options;
    const { backlogBytesMax } = traits;
    const listen = (_path: string, accept: () => FrameSocket) => {
      this.#accept = accept;
      return { stop: () => undefined };
    };
    new MirrorFeed(source, "", { backlogBytesMax, listen });
    for (let at = 0; at < traits.processes; at++) this.#startLater();
    this.#trouble();
  }

  /** The processes that accept requests. */
  get ready(): readonly ServingProcess[] {
    return [...this.#running].flatMap(({ server }) => server ?? []);
  }

  get areReady(): boolean {
    return this.ready.length === this.#options.traits.processes;
  }

  /** Ends all of them with the replica's process. */
  lost(): void {
    for (const running of this.#running) end(running);
    this.#running.clear();
  }

  #startLater(): void {
    const { world, replica } = this.#options;
    replica.clock.after(world.random.between(1, restartMsMax), () => void this.#start());
  }

  async #start(): Promise<void> {
    const { replica, world, traits, limits } = this.#options;
    const { random } = world;
    const clock = new ServingClock(replica.clock);
    const running: Running = { clock, frames: undefined, server: undefined, isKilled: false };
    this.#running.add(running);
    const connect = async (_path: string, events: FrameSocketEvents) => {
      const frames = new FrameSocket(this.#counted(events));
      running.frames = frames;
      connectLocally(random, { frames, clock }, { frames: this.#accept(), clock: replica.clock });
      return frames;
    };
    const number = traits.nextNumber();
    let reason: unknown;
    try {
      const mirror = await openMirror("", { clock, origin: originOf(replica.id, number), connect });
      const newUid = () => `${number}-${random.next()}-${random.next()}`;
      const fraction = () => random.below(1_000) / 1_000;
      running.server = new ServingProcess(mirror, { replica, clock, limits, random: fraction, newUid });
      traits.counts.servingStarts++;
      reason = await mirror.ended;
    } catch (error) {
      reason = error;
    }
    this.#running.delete(running);
    if (running.isKilled) this.#startLater();
    else traits.fail(new Violation(`a serving process of member ${replica.id} ends: ${reason}`));
  }

  /** Counts images on their way to a mirror. */
  #counted(events: FrameSocketEvents): FrameSocketEvents {
    const { counts } = this.#options.traits;
    return {
      frame(kind, payload) {
        if (kind === frameKinds.imageBegin) counts.servingImages++;
        events.frame(kind, payload);
      },
      closed: () => events.closed(),
    };
  }

  #trouble(): void {
    const { world, replica, traits } = this.#options;
    const { random } = world;
    replica.clock.after(random.between(1, troubleMsMax), () => {
      if (world.isCalm) return;
      const running = this.#running.size === 0 ? undefined : random.pick([...this.#running]);
      if (running !== undefined && random.chance(500)) {
        traits.counts.servingKills++;
        end(running);
      } else if (running !== undefined) {
        traits.counts.servingPauses++;
        running.clock.pause(random.between(1, random.pick(pausesMsMax)));
      }
      this.#trouble();
    });
  }
}

/** Kills a process. Bytes that it had sent still arrive. */
function end(running: Running): void {
  running.isKilled = true;
  running.server?.lost();
  running.clock.end();
  running.frames?.close();
}
