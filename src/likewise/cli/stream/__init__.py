"""`likewise stream`: the commands of streams on Spark (`app`), and `likewise backtest`."""
