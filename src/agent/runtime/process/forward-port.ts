import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type PortConnection, RuntimeError } from "../runtime.ts";

/** Containers are processes of this machine, so their ports are here. */
const host = "127.0.0.1";

/** Connects to a port of this machine, and copies in both directions until the server closes or the client is gone. */
export async function forwardPort(port: number, { input, output, signal }: PortConnection): Promise<void> {
  const socket = connect({ host, port, signal });
  try {
    await opened(socket, port);
    const sending = send(socket, input);
    const failed = Promise.withResolvers<never>();
    sending.catch(failed.reject);
    await Promise.race([receive(socket, output), failed.promise]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    socket.destroy();
  }
}

async function opened(socket: Socket, port: number): Promise<void> {
  try {
    await once(socket, "connect");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const problem = code === "ECONNREFUSED" ? "connect: connection refused" : `connect: ${(error as Error).message}`;
    throw new RuntimeError("PortForwardError", `dial tcp4 ${host}:${port}: ${problem}`);
  }
}

async function send(socket: Socket, input: PortConnection["input"]): Promise<void> {
  for await (const chunk of input) {
    if (socket.destroyed) return;
    if (!socket.write(chunk)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
  }
  socket.end();
}

async function receive(socket: Socket, output: PortConnection["output"]): Promise<void> {
  for await (const chunk of socket) await output(chunk as Uint8Array);
}
