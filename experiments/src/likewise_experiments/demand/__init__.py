"""Does demand miss nothing, and ask for little beside what matches? `generating` draws subscriptions, announcements and
events, `experiment` compares what is sent on with what the engines match, `growing` measures many of both."""
