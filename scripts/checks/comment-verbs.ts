/** Verbs by which the doc comment of a function begins. The list is closed, as a plural looks the same: add what is missing. */
export const commentVerbs: ReadonlySet<string> = new Set(
  [
    'Aborts Accepts Acts Adds Adopts Allows Announces Annotates Answers Applies Arms Asks Asserts Awaits Becomes Begins',
    'Binds Blanks Breaks Brings Builds Calls Cancels Carries Causes Changes Checks Chooses Claims Closes Collects Commits',
    'Compares Compiles Completes Connects Converts Coordinates Copies Counts Creates Cuts Decides Declares Decodes Defines',
    'Deletes Denies Deploys Digests Disarms Discards Discovers Divides Does Draws Drains Drives Drops Edits Empties Encodes Ends',
    'Estimates Evicts Executes Expects Fails Fills Files Finds Follows Forgets Freezes Frees Gives Goes Grants Grows Guards Halts Hands',
    'Has Holds Identifies Installs Joins Judges Keeps Kills Knows Leads Learns Leaves Lets Limits Lists Listens Loads Locks',
    'Logs Looks Makes Marks Measures Merges Moves Names Notes Observes Opens Orders Parses Passes Patches Pauses Permits Plans Plays Polls',
    'Posts Prepares Prints Promotes Puts Queues Reads Reconciles Records Refuses Registers Receives Rejects Releases Remembers Removes Renders Repeats',
    'Replaces Reports Resets Resolves Restarts Restores Returns Revokes Rolls Rotates Runs Says Scales Schedules Sees Selects Sends Serves Sets Severs',
    'Settles Shows Signs Silences Skips Sleeps Sorts Splits Starts Stays Steps Stops Stores Strikes Sums Suspends Syncs Takes Tells Throws Tolerates Tries',
    'Turns Uninstalls Unpacks Updates Uses Validates Waits Wakes Walks Warns Watches Withdraws Works Writes Yields',
  ].flatMap((line) => line.split(' ')),
);
