import "../../shared/domain/reactions.ts";
import {
  ContactAction,
  ContactActionPreview,
  NewContactAction,
} from "../../shared/domain/automation/contact-actions/action-schema.ts";
import * as actions from "../../shared/domain/automation/contact-actions/contact-actions.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";

const errors = {
  400: "The target belongs to another site, or does not fit the action.",
  404: "The site, the target or a record of the filter does not exist.",
};

export const contactActions = routeGroup("contact-actions", [
  route("POST /contact-actions", "Change many contacts", {
    operationId: "createContactAction",
    auditedValues: ["action", "targetId", "tag", "filter"],
    description:
      "Starts a job that does one action with each selected contact: read its progress with GET " +
      "/contact-actions/:id. First the contacts are selected, then they are changed, each once. " +
      "`enroll` also needs the right `marketing:write`, and `suppress` access to all sites. " +
      "Actions are listed for 30 days.",
    level: "site",
    body: NewContactAction,
    returns: ContactAction,
    status: 202,
    errors,
    handle: ({ caller, body }) => actions.start(caller, body),
  }),
  route("POST /contact-actions/preview", "Preview a change of many contacts", {
    operationId: "previewContactAction",
    description:
      "Counts the contacts and says what POST /contact-actions would do with the same body. " +
      "Changes nothing.",
    level: "site",
    preview: true,
    body: NewContactAction,
    returns: ContactActionPreview,
    errors,
    handle: ({ caller, body }) => actions.preview(caller, body),
  }),
  route("GET /contact-actions", "List changes of many contacts", {
    operationId: "listContactActions",
    description: "Returns the actions of the last 30 days, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
    }),
    returns: pagedSchema("actions", ContactAction),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await actions.list(caller, page, siteId);
      return { actions: items, pagination };
    },
  }),
  route("GET /contact-actions/:id", "Get a change of many contacts", {
    description: "Returns the progress, the counts and the first 100 contacts that failed.",
    level: "site",
    returns: ContactAction,
    handle: ({ caller, params }) => actions.find(caller, params.id),
  }),
  route("POST /contact-actions/:id/cancel", "Cancel a change of many contacts", {
    description:
      "Up to 100 contacts that are at work are finished; what was done stays. An action that has " +
      "ended does not change.",
    level: "site",
    returns: ContactAction,
    handle: ({ caller, params }) => actions.cancel(caller, params.id),
  }),
]);
export const { handler } = contactActions;
