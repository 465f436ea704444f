import { status } from "../../api/status.ts";
import type { ByteSink, Exchange, HttpResponse } from "../../request/exchange.ts";
import type { Cluster } from "../../storage/cluster.ts";

/** Maximum number of concurrent snapshots. Each holds old records of the database until it has been sent. */
const snapshotsMax = 2;

/** Sends the current state while writes continue. A stream without its end mark is incomplete. */
export class SnapshotStreams {
  readonly #cluster: Pick<Cluster, "image">;
  #running = 0;

  constructor(cluster: Pick<Cluster, "image">) {
    this.#cluster = cluster;
  }

  /** @throws StatusError 429 while others are being sent */
  async reply({ request }: Exchange): Promise<HttpResponse> {
    if (this.#running >= snapshotsMax) {
      throw status.tooManyRequests(`${snapshotsMax} snapshots are already being read`, 10);
    }
    const held = new DisposableStack();
    this.#running++;
    held.defer(() => void this.#running--);
    try {
      const image = held.use(await this.#cluster.image());
      // `run` is never called if the client disconnects before the first byte.
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

/** Sends the chunks. Rejects when the server stops, so that the reader does not take the snapshot for complete. */
async function send(chunks: AsyncIterable<Uint8Array>, sink: ByteSink, gone: AbortSignal): Promise<void> {
  for await (const chunk of chunks) {
    if (!sink.write(chunk)) await sink.drained();
    if (gone.aborted) return;
    if (sink.signal.aborted) throw new Error("the snapshot was cut off");
  }
}
