/** The parts of the process that commands use. Tests pass their own. */
export interface Terminal {
  /** Prints one line of the result. */
  print(line: string): void;
  /** Prints one line about errors or progress. */
  complain(line: string): void;
  /** Calls `run` for SIGINT and SIGTERM until disposed. */
  onStopSignal(run: (signal: string) => void): Disposable;
  /** Calls `run` for uncaught errors until disposed. */
  onUncaught(run: (error: unknown) => void): Disposable;
  /** Ends the process at once. */
  exit(code: number): void;
}

const stopSignals = ["SIGINT", "SIGTERM"] as const;
const uncaughtEvents = ["uncaughtException", "unhandledRejection"] as const;

// Keep serving when the reader of our output goes away, as in `quorate up head -1`.
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
