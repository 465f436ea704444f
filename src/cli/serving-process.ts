import { rmSync } from "node:fs";
import { systemClock } from "../process/clock.ts";
import { StartupError } from "../process/startup-error.ts";
import type { FromServingProcess, ServingStart, ToServingProcess } from "../server/serving/messages.ts";
import type { ServingServer } from "../server/serving/start-serving-process.ts";
import { releaseStartMemory } from "./release-start-memory.ts";
import { startupFailureText } from "./startup-failure.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Time to answer clients after the store can no longer be followed. If the other process has ended, this one ends with it
 * before that.
 */
const failureAnswersMs = 500;

/**
 * Runs a serving process, which does what the process that started it says. It ends with that process, and ignores
 * signals to stop: a signal to a whole group of processes reaches the other one, too, which then lets this one finish.
 * @returns 0 after an orderly stop, 1 otherwise
 */
export async function servingProcess(terminal: Terminal): Promise<number> {
  if (process.send === undefined) {
    throw new StartupError('this command is part of "quorate up --serving-processes": run that');
  }
  await using scratch = new AsyncDisposableStack();
  const end = Promise.withResolvers<number>();
  const send = (message: FromServingProcess) => void process.send?.(message);
  let starting: ServingStart | undefined;
  let server: ServingServer | undefined;
  let isStopping = false;

  scratch.use(terminal.onStopSignal(() => undefined));
  scratch.use(terminal.onUncaught((error) => fail(error)));
  process.on("message", (message: ToServingProcess) => void obey(message).catch(fail));
  process.on("disconnect", () => {
    if (isStopping) return;
    // The other process was killed, or it would have removed this directory.
    if (starting !== undefined) rmSync(starting.directory, { recursive: true, force: true });
    terminal.exit(1);
  });
  return await end.promise;

  async function obey(message: ToServingProcess): Promise<void> {
    switch (message.kind) {
      case "start": {
        starting = message.start;
        const { startServingProcess } = await import("../server/serving/start-serving-process.ts");
        server = await startServingProcess(message.start, () => send({ kind: "issuerKeyWithdrawn" }));
        scratch.use(releaseStartMemory(systemClock));
        void server.ended.then(async (error) => {
          if (isStopping) return;
          await Bun.sleep(failureAnswersMs);
          fail(error);
        });
        return send({ kind: "ready" });
      }
      case "metrics":
        return send({ kind: "answer", id: message.id, text: (await server?.metrics(message.reset)) ?? "" });
      case "rereadCertificates":
        await server?.rereadCertificates();
        return send({ kind: "answer", id: message.id, text: "" });
      case "doubtIssuerKeys":
        return server?.doubtIssuerKeys();
      case "leave":
        return server?.leave();
      case "stop":
        isStopping = true;
        await server?.stop(message.graceMs);
        return end.resolve(0);
    }
  }

  function fail(error: unknown): void {
    terminal.complain(`quorate: a serving process ends: ${startupFailureText(error, "")}`);
    terminal.exit(1);
  }
}
