import "../../shared/domain/reactions.ts";
import * as z from "zod";
import {
  ContactTopics,
  TopicChoices,
} from "../../shared/domain/audience/topics/contact-topic-schemas.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic, Topic, TopicChanges } from "../../shared/domain/audience/topics/topic-schema.ts";
import { maxTopicsPerSite } from "../../shared/domain/audience/topics/topic-subscription.ts";
import * as topicRecords from "../../shared/domain/audience/topics/topics.ts";
import { deleteWithUses } from "../../shared/http/delete-with-uses.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  Deleted,
  deletesUsed,
  IfUnused,
  inUse,
  PageQuery,
  route,
} from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";

const LogQuery = PageQuery.pick({ limit: true, cursor: true });

export const topics = routeGroup("topics", [
  route("GET /topics", "List topics", {
    description: `Returns all topics of one site in their order, at most ${maxTopicsPerSite}.`,
    level: "site",
    query: z.object({
      siteId: QueryId.optional().describe(
        "Site of the topics. Defaults to the site of the API key, else to the organization's " +
          "only site.",
      ),
    }),
    returns: z.object({ topics: z.array(Topic).describe("Topics of the site, in their order.") }),
    handle: async ({ caller, query: { siteId } }) => ({
      topics: await topicRecords.list(caller, siteId),
    }),
  }),
  route("POST /topics", "Create a topic", {
    description: `Adds the topic at the end of the order. A site has up to ${maxTopicsPerSite}.`,
    level: "site",
    body: NewTopic,
    returns: Topic,
    status: 201,
    errors: {
      409: "The site has a topic with this name (`topic_exists`) or 50 topics (`too_many`).",
    },
    handle: ({ caller, body }) => topicRecords.create(caller, body),
  }),
  route("GET /topics/:id", "Get a topic", {
    level: "site",
    returns: Topic,
    handle: ({ caller, params }) => topicRecords.find(caller, params.id),
  }),
  route("PUT /topics/:id", "Update a topic", {
    description:
      "Updates the given fields. `position` moves the topic. `defaultSubscription` never " +
      "changes, because a change would subscribe or unsubscribe contacts who did not ask for it.",
    level: "site",
    body: TopicChanges,
    returns: Topic,
    errors: { 409: "The site has a topic with this name (`topic_exists`)." },
    handle: ({ caller, params, body }) => topicRecords.change(caller, params.id, body),
  }),
  route("DELETE /topics/:id", "Delete a topic", {
    description: `Email on its way still leaves out contacts who left the topic. ${deletesUsed}`,
    level: "site",
    query: IfUnused,
    returns: Deleted,
    errors: { 409: inUse },
    handle: (input) => deleteWithUses("TOPIC", input, topicRecords.remove),
  }),
  route("GET /contacts/:id/topics", "Get a contact's topics", {
    operationId: "getContactTopics",
    description:
      "Returns all topics of the contact's site, whether the contact is subscribed to each, and " +
      "the log of its choices, newest first.",
    level: "site",
    query: LogQuery,
    returns: ContactTopics,
    handle: ({ caller, params, query }) => contactTopics.find(caller, params.id, query),
  }),
  route("PUT /contacts/:id/topics", "Update a contact's topics", {
    operationId: "updateContactTopics",
    description:
      "Joins and leaves the given topics. The others stay, and so does the status of the " +
      "contact. Join topics only with the consent of the contact.",
    level: "site",
    body: TopicChoices,
    returns: ContactTopics,
    handle: async ({ caller, params, body }) => {
      await contactTopics.change(caller, params.id, {
        choices: body.topics,
        consent: { source: "api" },
      });
      return contactTopics.find(caller, params.id, { limit: 50 });
    },
  }),
]);
export const { handler } = topics;
