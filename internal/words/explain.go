package words

import "strings"

// An Explanation is the paragraph behind the code of a note. "deem explain D012" prints it.
type Explanation struct {
	Code string   `json:"code"`
	On   []string `json:"notes"` // fixed parts of the notes that have this code
	Text string   `json:"text"`
}

// CodeOf returns the code of a note or a warning, "" if it has none.
func CodeOf(note string) string {
	for _, e := range Explanations {
		for _, part := range e.On {
			if strings.Contains(note, part) || strings.Contains(note, UpperFirst(part)) {
				return e.Code
			}
		}
	}
	return ""
}

// Coded returns a note with its code at the end.
func Coded(note string) string {
	if code := CodeOf(note); code != "" {
		return note + " (" + code + ")"
	}
	return note
}

// Explanations are all codes in order. A code is never given to another note.
var Explanations = []Explanation{
	{
		"D001",
		[]string{"small sample: fewer than 30 items"},
		"With fewer than 30 items a handful of other verdicts would move the score by ten points. The interval is valid but wide. Judge more items: deem plan --margin says how many a given precision takes.",
	},
	{
		"D002",
		[]string{"there is nothing to estimate", "agreement is unknown", "nothing is known about the system", "there are no labels to correct with"},
		"There is no verdict, or no label, that this number could be computed from. It is left out and not shown as 0. The section on unjudged items says why they have no verdict.",
	},
	{
		"D003",
		[]string{"one value gives no information", "one item gives no information", "too few items have both scores", "there are too few pairs for an interval", "too few for an interval of agreement", "not more clusters than numbers to estimate"},
		"An interval needs to see how far values differ, and there are too few for that. The value is shown alone. More items, pairs or clusters give an interval.",
	},
	{
		"D004",
		[]string{"all values are equal, so their spread is unknown", "the correlation is perfect", "agreement does not differ between items", "the verdicts leave no spread to measure", "all clusters say the same", "the scores separate right from wrong completely"},
		"All values are the same, so the data do not show how far they could differ. Where a bounded number allows it, the interval is that of a method which still holds (for shares, Wilson's); otherwise it has no width, which does not mean that the value is certain.",
	},
	{
		"D005",
		[]string{"nearly all values are equal and a few are far off"},
		"The values are so skewed that an interval around the mean, which assumes a roughly normal mean, may miss the true value more often than 5% of the time, on either side. More items help; a bootstrap interval is an alternative.",
	},
	{
		"D006",
		[]string{"items carry different weights"},
		"With unequal weights, few heavy items can decide the mean. The interval uses Kish's effective number of items, the square of the sum of the weights over the sum of their squares, instead of the count.",
	},
	{
		"D007",
		[]string{"values that are not usable numbers", "some items have a value here that is not a number"},
		"Some values were missing, negative, infinite or not numbers. They are left out of this number and count nowhere as 0. Check the file that they come from.",
	},
	{
		"D008",
		[]string{"the count was moved into range", "a negative count was given", "was moved into it"},
		"A count or a value lay outside what is possible and was moved to the nearest possible one. Counts out of range come from the caller; a corrected score outside 0 to 100% means that the judge's error rates do not fit the run.",
	},
	{
		"D009",
		[]string{"too few draws for this level"},
		"A bootstrap interval takes its ends from the sorted draws. With so few draws the ends are the extremes. More draws make it precise.",
	},
	{
		"D010",
		[]string{"bias cannot be corrected", "too many resamples have no spread"},
		"The resampled means do not allow the corrected bootstrap interval. The interval of another method is shown instead, whose name is in the JSON.",
	},
	{
		"D011",
		[]string{"fewer than 30 clusters", "a few clusters hold most of the misses", "fewer than 60 clusters", "the intervals rest on few of them"},
		"Items of one cluster, such as the questions about one conversation, are right or wrong together. The interval allows for that, but with so few clusters it rests on few independent pieces. More conversations help; more questions about the same ones do not.",
	},
	{
		"D012",
		[]string{"fewer than 8 clusters"},
		"With fewer than 8 clusters it is hardly known how far clusters differ from one another, so the interval may be too narrow or too wide. Treat it as a guess, and add conversations rather than questions.",
	},
	{
		"D013",
		[]string{"one cluster gives no information", "all clusters have the same mean"},
		"Only differences between clusters show how far a score would move with other conversations. One cluster, or clusters with the same mean, show none, so there is no interval or a narrow one.",
	},
	{
		"D014",
		[]string{"the wider one is shown", "the interval takes items for independent"},
		"There are two intervals: one treats items as independent, the other allows for clusters. With few clusters the second can come out narrower by chance; the wider one is shown. Where only the first could be computed, it may be too narrow.",
	},
	{
		"D015",
		[]string{", and intervals allow for that", "clusters were put together at random", "the intervals allow for clusters"},
		"Items of one cluster are right or wrong together, so they count as fewer items than there are. All intervals allow for that. Nothing needs to be done.",
	},
	{
		"D016",
		[]string{"no pair differs", "too few values for this test", "the test is not defined", "no item tells the runs apart", "two pairs always correlate perfectly"},
		"The test has nothing to work with: the runs agree on every item, or there are too few items. Its p-value is 1, which shows neither a difference nor equality. The interval of the difference says what is still possible.",
	},
	{
		"D017",
		[]string{"fewer than three trials", "flips count a score from one half on as yes", "counts with the mean of its", "agreement compares what most of them say"},
		"Judging an item again shows how far the judge varies, but makes no new item: each item counts once, with the mean of its trials. The judge's own noise is estimated from the trials, and takes three or more of them.",
	},
	{
		"D018",
		[]string{"the run was looked at after every item", "the run was stopped by the rule"},
		"A run that stops when a rule holds must be allowed to look at its score after every item. The interval of the score is a confidence sequence, which holds at every look; all other intervals assume one look at the end.",
	},
	{
		"D019",
		[]string{"share the model family"},
		"Models prefer answers of their own family by some points. Take a judge of another family, or measure the effect with human labels: deem agree RUN labels.csv.",
	},
	{
		"D020",
		[]string{"have a record so far, and the numbers will move", "the run is not complete, and the numbers will move", "have no record, and no number here speaks of them", "some items were counted more than once", "have no record yet; the numbers will change"},
		"The numbers are about the records that exist, and not about the whole dataset. The same deem run command judges the items that are left.",
	},
	{
		"D021",
		[]string{"so only the first trial counts", "the numbers mix them", "verdicts may not be comparable with one another"},
		"The records come from more than one judge, model or trial. A score that mixes them is the score of none. Judge all items again with one judge: --fresh.",
	},
	{
		"D022",
		[]string{"carry no pass mark, so there is no pass rate"},
		"A pass rate needs a pass mark for every verdict. Set one with --pass, which makes it part of the judge's hash.",
	},
	{
		"D023",
		[]string{"the true cost is higher", "a subscription pays for"},
		"These calls have no price per token: the model is not in the price table, or a subscription pays for it. The cost shown leaves them out. --prices FILE gives prices.",
	},
	{
		"D024",
		[]string{"the vendor reported no believable number of tokens"},
		"The vendor's reply had no token count, or an impossible one. deem counts one token for each byte instead, which is more than any tokenizer makes of it, so limits on money still hold.",
	},
	{
		"D025",
		[]string{"a score outside 0 to 1", "a verdict and a failure, and count", "a weight that is not a usable number", "an aspect that is not a usable number", "a confidence outside 0 to 1"},
		"A record holds a value that a judge of deem cannot give, so it was edited or comes from another program. What cannot be used is left out, and a record without a usable verdict is unjudged and not wrong.",
	},
	{
		"D026",
		[]string{"both judges gave one label only", "agreement beyond chance is not defined", "alpha is not defined", "agreement is not defined", "in some draws all ratings were equal"},
		"Kappa, alpha and their relatives compare agreement with what chance would give. If everybody says the same of everything, chance agrees as well, and they are not defined. Look at the plain agreement, and label items that are likely to be wrong.",
	},
	{
		"D027",
		[]string{"their errors have no correlation", "errors are not shared"},
		"Several judges are worth fewer votes than there are of them if they are wrong on the same items. This needs judges that are wrong on some items and right on others.",
	},
	{
		"D028",
		[]string{"fewer than 50 labels", "every number here is a rough guess"},
		"The corrected score uses human labels to remove the judge's errors. With fewer than 50 labels these errors are hardly known, and the interval may be too narrow. deem agree RUN --plan 200 chooses items to label.",
	},
	{
		"D029",
		[]string{"the judge is better than chance", "one kind of error was not measured", "there is no label at all"},
		"A correction needs both error rates of the judge: how often it calls right answers wrong, and wrong answers right. The labels do not show one of them, so label items of the other verdict too.",
	},
	{
		"D030",
		[]string{"were not drawn at random", "the labels were drawn by verdict"},
		"A correction by labels assumes that the labelled items are a random sample. Labels of items that somebody picked, such as the suspicious ones, move the corrected score. deem agree RUN --plan N draws a sample and records how it was drawn.",
	},
	{
		"D031",
		[]string{"error rates correct counts of yes and no only"},
		"The method by error rates (Rogan and Gladen) corrects a share of yes and no. A score with grades, weights, trials or probabilities is corrected by prediction-powered inference instead.",
	},
	{
		"D032",
		[]string{"the probabilities of undecided items may be off"},
		"Undecided items count with the probability that they are correct. If these probabilities are off, the score is too, so the interval allows for it. A judge that decides these items makes it narrower.",
	},
	{
		"D033",
		[]string{"the score counts each with its probability"},
		"A judge may leave an item undecided with a probability. The score counts the probability; agreement, kappa and error rates need a yes or a no, so they are about the decided items.",
	},
	{
		"D034",
		[]string{"but no verdict, and no number here counts them", "the annotators are evenly split"},
		"Agreement compares verdicts with labels, so an item without one of them, or whose annotators are split, counts nowhere. Another annotator decides a split.",
	},
	{
		"D035",
		[]string{"counts as the truth here, and may be wrong itself"},
		"Two judges were compared, and one stands for the truth. Where they differ, either may be wrong. Human labels on the items on which they differ say which.",
	},
	{
		"D036",
		[]string{"only items that one judge has seen are carried over", "did not judge are left out"},
		"A bridge predicts the new judge's verdicts from the old one's. Items that the other run has not seen add nothing to the link between the two.",
	},
	{
		"D037",
		[]string{"a score from one half on is a yes"},
		"Judges that give scores are compared by their decisions: a score of at least 0.5 counts as yes. Another limit would give other numbers.",
	},
	{
		"D038",
		[]string{"tau takes only a few values"},
		"Kendall's tau compares two rankings. With three or four systems it can take only a few values, so it says little. Look at which pairs of systems change places.",
	},
	{
		"D039",
		[]string{"are simultaneous: they hold together"},
		"Several intervals are shown at once, and each is widened so that all of them hold together with the stated confidence. A single one would be narrower.",
	},
	{
		"D040",
		[]string{"= means equivalent within"},
		"Two one-sided tests show that the difference is smaller than the margin in both directions. That is more than the absence of a significant difference.",
	},
	{
		"D041",
		[]string{"the runs differ in more than their systems"},
		"The runs were compared with --anyway although their judges, items or references differ. The difference is that of the systems and of everything else that differs.",
	},
	{
		"D042",
		[]string{"probes say little: look at their intervals", "items that are not probes", "an unjudged probe is neither accepted nor rejected"},
		"A rate of false accepts is about the probes of one kind that were judged. Unjudged probes count neither as accepted nor as rejected, and a kind with few probes has a wide interval.",
	},
	{
		"D043",
		[]string{"no item of the run has a reference that the list calls wrong", "no item of the run", "the corrected reference already"},
		"A list of errata is matched by item and reference. What does not match belongs to another dataset or version, or is corrected already, and moves no score.",
	},
	{
		"D044",
		[]string{"would have to be judged again for a corrected score", "left out of the corrected score"},
		"A corrected score needs verdicts against the corrected references. deem run --errata FILE --corrected judges only these items again; those without a known right answer are left out.",
	},
	{
		"D045",
		[]string{"the ceiling counts known faults", "lies above its ceiling", "with a wrong reference"},
		"If references are wrong, a system that answers correctly cannot score 100%: the ceiling is the highest score that right answers can reach. A score above it means that wrong references were met, or that the judge is generous.",
	},
}
