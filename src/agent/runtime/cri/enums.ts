/** Values of the enums of runtime.v1 that the agent uses. */
export const protocols: ReadonlyMap<string, number> = new Map([
  ["TCP", 0],
  ["UDP", 1],
  ["SCTP", 2],
]);

export const mountPropagations = { None: 0, HostToContainer: 1, Bidirectional: 2 } as const;

/** The owner of the namespace that a container is in. */
export const namespaceModes = { pod: 0, container: 1, node: 2, target: 3 } as const;

export const profileTypes = { runtimeDefault: 0, unconfined: 1, localhost: 2 } as const;

export const supplementalGroupsPolicies: ReadonlyMap<string, number> = new Map([
  ["Merge", 0],
  ["Strict", 1],
]);

export const sandboxStates = { ready: 0, notReady: 1 } as const;

export const containerStates = { created: 0, running: 1, exited: 2, unknown: 3 } as const;

export const cgroupDrivers = { systemd: 0, cgroupfs: 1 } as const;

/** The signals in the order of their numbers, the first of which is 1: 0 leaves the signal to the image. */
const signals = [
  ..."ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS".split(" "),
  ..."TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN".split(" "),
  ...Array.from({ length: 15 }, (_, at) => `RTMIN+${at + 1}`),
  ...Array.from({ length: 14 }, (_, at) => `RTMAX-${14 - at}`),
  "RTMAX",
];

/** Numbers of signals by names such as `SIGTERM` and `SIGRTMIN+3`. */
export const signalNumbers: ReadonlyMap<string, number> = new Map(
  signals.map((name, at) => [`SIG${name}`, at + 1] as const),
);
