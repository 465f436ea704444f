import type { Strategy } from "../../registry/strategy.ts";
import { validateCronJob } from "../validation/cron-job.ts";
import { cronJobWarnings } from "../warnings/workload-warnings.ts";
import { specStrategy } from "../spec-strategy.ts";

export const cronJobStrategy: Strategy = {
  ...specStrategy,
  validate: (cronJob, old) => validateCronJob(cronJob, old),
  warnings: cronJobWarnings,
};
