// Installs what campaigns do when an event of a contact is recorded: it can be their conversion.
import { installConversionReactions } from "./audience/tracking/converting-events.ts";
import {
  conversionWrites,
  listConvertingNames,
} from "./campaigns/conversions/count-conversions.ts";

installConversionReactions({ listConvertingNames, conversionWrites });
