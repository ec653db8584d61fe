"""`likewise stream`: the commands of streams on Spark, one file each; `app` lists them."""
