/** The two halves of admission, as metrics name them. */
export type AdmissionStep = "admit" | "validate";

/** Hears how long each call has taken. */
export type AdmissionTimer = (operation: string, ms: number, isRejected: boolean) => void;

/** Makes the timers of the plugins and of the steps. Each is made once and used by every request. */
export interface AdmissionObserver {
  pluginTimer(step: AdmissionStep, name: string): AdmissionTimer;
  stepTimer(step: AdmissionStep): AdmissionTimer;
}
