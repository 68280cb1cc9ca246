// What helps to read a page, and the buttons beside the chat of the home page.

import { startActions } from "./actions.js";
import { markSections } from "./contents.js";
import { startSearch } from "./search.js";

startActions();
markSections();
startSearch();
