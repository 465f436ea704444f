import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Clock } from "../../src/process/clock.ts";
import type { ByteSocket, FrameSocket } from "../../src/storage/replicated/mirror/frame-socket.ts";

const bufferBytesMax = 16 * 1024;
const travelMsMax = 5;

interface Side {
  readonly frames: FrameSocket;
  readonly clock: Clock;
}

/** Connects two processes of one machine. The connection keeps the order, holds few bytes, and cuts the stream anywhere. */
export function connectLocally(random: SeededRandom, one: Side, other: Side): void {
  const bufferBytes = random.pick([64, 1024, bufferBytesMax]);
  one.frames.opened(new Direction(random, bufferBytes, one, other));
  other.frames.opened(new Direction(random, bufferBytes, other, one));
}

class Direction implements ByteSocket {
  readonly #random: SeededRandom;
  readonly #bufferBytes: number;
  readonly #from: Side;
  readonly #to: Side;
  #held = Buffer.alloc(0);
  #isFull = false;
  #isMoving = false;
  #hasEnded = false;

  constructor(random: SeededRandom, bufferBytes: number, from: Side, to: Side) {
    this.#random = random;
    this.#bufferBytes = bufferBytes;
    this.#from = from;
    this.#to = to;
  }

  write(bytes: Uint8Array): number {
    const taken = Math.min(bytes.byteLength, this.#bufferBytes - this.#held.length);
    this.#held = Buffer.concat([this.#held, bytes.subarray(0, taken)]);
    this.#isFull = taken < bytes.byteLength;
    this.#move();
    return taken;
  }

  end(): void {
    this.#hasEnded = true;
    this.#move();
  }

  #move(): void {
    if (this.#isMoving) return;
    this.#isMoving = true;
    this.#to.clock.after(this.#random.below(travelMsMax), () => this.#arrive());
  }

  #arrive(): void {
    this.#isMoving = false;
    const chunk = this.#held.subarray(
      0,
      this.#random.chance(500) ? undefined : this.#random.between(1, this.#bufferBytes),
    );
    this.#held = this.#held.subarray(chunk.length);
    this.#to.frames.received(chunk);
    // The memory of a chunk belongs to the socket.
    chunk.fill(0xff);
    if (this.#held.length > 0) this.#move();
    else if (this.#hasEnded) this.#to.frames.closed();
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#from.clock.after(0, () => this.#from.frames.drained());
  }
}
