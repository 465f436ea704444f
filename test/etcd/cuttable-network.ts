import { connect, createServer, type Server, type Socket } from "node:net";

/** A network between a client and etcd that can be cut: bytes then vanish, and no connection is closed. */
export class CuttableNetwork implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, "127.0.0.1");
      this.#forward(near, far);
      this.#forward(far, near);
    });
  }

  static async open(target: number): Promise<CuttableNetwork> {
    const network = new CuttableNetwork(target);
    await new Promise<void>((resolve) => network.#server.listen(0, "127.0.0.1", resolve));
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  cut(): void {
    this.#isCut = true;
  }

  heal(): void {
    this.#isCut = false;
  }

  /** Breaks all connections, as a restarted network does. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on("data", (bytes) => {
      if (!this.#isCut) to.write(bytes);
    });
    from.on("error", () => undefined);
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
