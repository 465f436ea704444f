import { systemClock } from "../../process/clock.ts";
import { openLog } from "../../process/logs.ts";
import { startupFailureText } from "../startup-failure.ts";
import type { Terminal } from "../terminal.ts";
import { type AgentFlagValues, agentFlagValue } from "./agent-flags.ts";
import { toAgentOptions } from "./to-agent-options.ts";

/**
 * Runs `quorate agent` until a signal to stop. Containers keep running, and the next start finds them again. The second
 * signal exits at once.
 * @returns 0 after an orderly stop
 */
export async function runAgent(flags: AgentFlagValues, terminal: Terminal): Promise<number> {
  const options = toAgentOptions(flags);
  await using scratch = new AsyncDisposableStack();
  const stop = Promise.withResolvers<void>();
  let isStopping = false;
  scratch.use(
    terminal.onUncaught((error) => {
      terminal.complain(`quorate: stopped by an internal error: ${startupFailureText(error, "")}`);
      terminal.exit(1);
    }),
  );
  scratch.use(
    terminal.onStopSignal(() => {
      if (isStopping) return terminal.exit(1);
      isStopping = true;
      stop.resolve();
    }),
  );
  const { openAgent } = await import("../../agent/agent.ts");
  const agent = scratch.use(
    await openAgent({
      options,
      clock: systemClock,
      random: Math.random,
      log: openLog({ verbosity: agentFlagValue(flags, "v") }),
    }),
  );
  terminal.complain(`node ${options.node.name} runs with the ${options.runtime.kind} runtime, on port ${agent.port}`);
  await stop.promise;
  return 0;
}
