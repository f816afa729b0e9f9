// The CDK app: `npm run synth`, `npm run deploy -- -c stage=prod`.
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { CURRENTLY_RECOMMENDED_FLAGS } from "aws-cdk-lib/cx-api";
import { groups } from "../functions/http/index.ts";
import { workers } from "../functions/queue/index.ts";
import { ticks } from "../functions/schedule/index.ts";
import { settingsFrom } from "../infra/aws/settings.ts";
import { Pennymail } from "../infra/aws/stack.ts";
import { queues } from "../shared/queues.ts";

// The versions are pinned, so what CDK recommends today changes only when we say so.
const app = new App({ context: CURRENTLY_RECOMMENDED_FLAGS });
const settings = settingsFrom((name) => app.node.tryGetContext(name));
new Pennymail(app, { groups, queues, workers, ticks }, settings, join(import.meta.dirname, "../dist"));
