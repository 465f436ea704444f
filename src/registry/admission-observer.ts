/** The two halves of admission, as metrics name them. */
export type AdmissionStep = "admit" | "validate";

/** The time that a plugin or a whole step has taken for one request. */
export interface AdmissionTime {
  readonly step: AdmissionStep;
  readonly operation: string;
  readonly seconds: number;
  readonly isRejected: boolean;
}

/** Hears how long the plugins take. */
export interface AdmissionObserver {
  plugin(name: string, time: AdmissionTime): void;
  step(time: AdmissionTime): void;
}
