/** What a command has of the process around it; a test passes its own. */
export interface Terminal {
  /** One line of what the command was asked for. */
  print(line: string): void;
  /** One line about why it could not be done. */
  complain(line: string): void;
  /** Calls back for SIGINT and SIGTERM until disposed. */
  onStopSignal(run: (signal: string) => void): Disposable;
  /** Calls back for errors that nothing caught until disposed. */
  onUncaught(run: (error: unknown) => void): Disposable;
  /** Leaves at once. */
  exit(code: number): void;
}

const stopSignals = ["SIGINT", "SIGTERM"] as const;
const uncaughtEvents = ["uncaughtException", "unhandledRejection"] as const;

// A reader that went away, as in `quorate up | head -1`, is no reason to stop serving.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

export const processTerminal: Terminal = {
  print: (line) => void process.stdout.write(`${line}\n`),
  complain: (line) => void process.stderr.write(`${line}\n`),
  onStopSignal(run) {
    for (const signal of stopSignals) process.on(signal, run);
    return { [Symbol.dispose]: () => stopSignals.forEach((signal) => process.off(signal, run)) };
  },
  onUncaught(run) {
    for (const event of uncaughtEvents) process.on(event, run);
    return { [Symbol.dispose]: () => uncaughtEvents.forEach((event) => process.off(event, run)) };
  },
  exit: (code) => process.exit(code),
};
