import type { Strategy } from "../../registry/strategy.ts";
import { validateCronJob } from "./validation/cron-job.ts";
import { cronJobWarnings } from "../core/workload-warnings.ts";
import { specStrategy } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { statusStrategy } from "../../registry/default-strategy.ts";

const cronJobStrategy: Strategy = {
  ...specStrategy,
  validate: (cronJob, old) => validateCronJob(cronJob, old),
  warnings: cronJobWarnings,
};

export const cronJob = builtInKind("cronjobs.batch", {
  endpoint: stored(cronJobStrategy),
  subresources: {
    status: subresource(statusStrategy(cronJobStrategy)),
  },
});
