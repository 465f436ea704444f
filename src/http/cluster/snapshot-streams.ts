import { status } from "../../api/status.ts";
import type { Cluster } from "../../storage/cluster.ts";
import type { ByteSink, Exchange, HttpResponse } from "../../request/exchange.ts";

/** Each one holds old records of the database until it has been sent. */
const snapshotsMax = 2;

/** Sends the state as of now while writes go on. A stream that does not end with its end mark was cut off. */
export class SnapshotStreams {
  readonly #cluster: Pick<Cluster, "image">;
  #running = 0;

  constructor(cluster: Pick<Cluster, "image">) {
    this.#cluster = cluster;
  }

  /** @throws StatusError 429 while others are under way */
  async reply({ request }: Exchange): Promise<HttpResponse> {
    if (this.#running >= snapshotsMax) {
      throw status.tooManyRequests(`${snapshotsMax} snapshots are being read already`, 10);
    }
    const held = new DisposableStack();
    this.#running++;
    held.defer(() => void this.#running--);
    try {
      const image = held.use(await this.#cluster.image());
      // A client that goes away before the first byte never gets to `run`.
      request.signal.addEventListener("abort", () => held.dispose());
      if (request.signal.aborted) held.dispose();
      return {
        kind: "stream",
        code: 200,
        headers: [["content-type", "application/octet-stream"]],
        async run(sink) {
          using _ = held;
          await send(image.chunks, sink, request.signal);
        },
      };
    } catch (error) {
      held.dispose();
      throw error;
    }
  }
}

/** Rejects when the server stops, so that the reader sees no whole snapshot. A reader that went away is told nothing. */
async function send(chunks: AsyncIterable<Uint8Array>, sink: ByteSink, gone: AbortSignal): Promise<void> {
  for await (const chunk of chunks) {
    if (!sink.write(chunk)) await sink.drained();
    if (gone.aborted) return;
    if (sink.signal.aborted) throw new Error("the snapshot was cut off");
  }
}
