// The CDK app: `npm run synth`, `npm run deploy -- -c stage=prod`.
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { CURRENTLY_RECOMMENDED_FLAGS } from "aws-cdk-lib/cx-api";
import { workers } from "../functions/queue-workers.ts";
import { groups } from "../functions/route-groups.ts";
import { schedules } from "../functions/schedules.ts";
import { parseSettings } from "../infra/aws/settings.ts";
import { PennymailStack } from "../infra/aws/stack.ts";
import { queues } from "../shared/queues.ts";

// CDK's version is pinned, so its recommended flags change only with an upgrade.
const app = new App({ context: CURRENTLY_RECOMMENDED_FLAGS });
new PennymailStack(
  app,
  { groups, queues, workers, schedules },
  {
    settings: parseSettings((name) => app.node.tryGetContext(name)),
    dist: join(import.meta.dirname, "../dist"),
  },
);
